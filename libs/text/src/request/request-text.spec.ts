import { ChatRequest, NOT_INT64 } from '@svc/api/chat';
import { Problem } from '@svc/contracts/problems';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonText } from '@svc/runtime';
import { RequestText } from './request-text.js';

/** The text of a valid request that may reach a backend. */
function checked(text: string): string {
  const json = new JsonText(text);
  RequestText.checked(json, ChatRequest.parse(JSON.parse(text)));
  return json.text;
}

const request = (members: string): string =>
  `{"model":"m","messages":[{"role":"user","content":"hi"}]${members === '' ? '' : `,${members}`}}`;
const requestWith = (members: string): string => `{"model":"m","messages":[{"role":"user",${members}}]}`;

function refusal(text: string): Problem | undefined {
  try {
    checked(text);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

describe('names that differ from a known one only by case', () => {
  const parts = '"content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}}]';
  it.each([
    [request('"Model":"dear"'), 'Model'],
    [request('"MESSAGES":[]'), 'MESSAGES'],
    [request('"Max_Tokens":1000000'), 'Max_Tokens'],
    [request('"N":128'), 'N'],
    [request('"Stream":true'), 'Stream'],
    [request('"\\u004d\\u006fdel":"dear"'), 'Model'],
    [request('"\u017ftream":true'), '\u017ftream'],
    [request('"top_\u212a":1'), 'top_\u212a'],
    [request('"Chat_Template_Kwargs":{}'), 'Chat_Template_Kwargs'],
    [requestWith('"content":"a","Content":"b"'), 'messages.0.Content'],
    [requestWith('"content":"a","ROLE":"system"'), 'messages.0.ROLE'],
    [requestWith(parts.replace('"text":"a"', '"text":"a","Text":"b"')), 'messages.0.content.0.Text'],
    [
      requestWith(parts.replace('"url"', '"URL":"http://10.0.0.1","url"')),
      'messages.0.content.1.image_url.URL',
    ],
    [
      requestWith(parts.replace('"image_url":{', '"Image_URL":{},"image_url":{')),
      'messages.0.content.1.Image_URL',
    ],
    [request('"tools":[{"type":"function","function":{"name":"f","Name":"g"}}]'), 'tools.0.function.Name'],
    [request('"reasoning":{"effort":"low","Effort":"high"}'), 'reasoning.Effort'],
    [request('"svc_parameters":{"Enable_Web_Search":"on"}'), 'svc_parameters.Enable_Web_Search'],
  ])('are rejected by name: %s', (text, param) => {
    expect(refusal(text)).toMatchObject({ code: 'INVALID_REQUEST', param });
  });

  it('are accepted inside objects without a known schema', () => {
    const text = request(
      '"X":{"Model":1,"model":2},"tools":[{"type":"function","function":{"name":"f","parameters":{"Type":1,"type":"object","TYPE":2}}}]',
    );
    expect(checked(text)).toBe(text);
  });
});

describe('the text for a backend', () => {
  it.each(['-9223372036854775808', '9223372036854775807', '-0', '1.0', '1e3', 'null'])(
    'accepts the seed %s',
    (seed) => {
      expect(() => checked(request(`"seed":${seed}`))).not.toThrow();
    },
  );

  // As doubles they equal the largest or the smallest seed.
  it.each(['9223372036854775808', '-9223372036854775809', '9223372036854775808.0'])(
    'refuses the seed %s, which has more than 64 bits',
    (seed) => {
      const issues = [{ code: 'custom', path: ['seed'], message: NOT_INT64 }];
      expect(refusal(request(`"seed":${seed}`))).toMatchObject({ param: 'seed', issues });
    },
  );

  it('equals the request byte for byte when all of its names are known', () => {
    const text = ` { "model" : "m\\u0041" , "messages":[ {"role":"user", "content":[{"type":"text","text":"a\\"}]"}]} ],
      "seed":9223372036854775807, "temperature":1.00, "x_unknown":{"a":[1e999,{}]} } `;
    expect(checked(text)).toBe(text.trim());
  });

  it.each([
    ['"content":"a","uuid":"x","image_url":{"url":"http://10.0.0.1"}', '"content":"a"'],
    [
      '"content":[{"type":"text","text":"a","image_url":{"url":"http://10.0.0.1"},"uuid":1}]',
      '"content":[{"type":"text","text":"a"}]',
    ],
    [
      '"content":[{"image_url":{"uuid":1,"url":"data:,","detail":"low"},"type":"image_url"}]',
      '"content":[{"image_url":{"url":"data:,","detail":"low"},"type":"image_url"}]',
    ],
  ])('omits unknown members of known objects: %s', (given, kept) => {
    expect(checked(requestWith(given))).toBe(requestWith(kept));
  });

  it.each([
    [request('"n":100,"n":1'), request('"n":1')],
    [request('"x":1,"x":2'), request('"x":2')],
    [requestWith('"content":"a","content":"b"'), requestWith('"content":"b"')],
    [requestWith('"role":"system","role":"user","content":"b"'), requestWith('"role":"user","content":"b"')],
    [requestWith('"content":"b","\\u0063ontent":"c"'), requestWith('"content":"c"')],
    [
      requestWith(
        '"content":[{"type":"image_url","image_url":{"url":"http://10.0.0.1"},"type":"text","text":"a"}]',
      ),
      requestWith('"content":[{"type":"text","text":"a"}]'),
    ],
  ])('keeps only the last of duplicate names, the one that was validated: %s', (given, kept) => {
    expect(JSON.parse(checked(given))).toEqual(JSON.parse(kept));
    expect(checked(given).length).toBe(kept.replace('"role":"user","role":"user"', '"role":"user"').length);
  });

  it('omits a null that means the same as no member, except for the content of a message', () => {
    const text =
      '{"model":"m","stop":null,"messages":[{"role":"assistant","content":null,"tool_calls":null,"name":null}]}';
    expect(checked(text)).toBe('{"model":"m","stop":null,"messages":[{"role":"assistant","content":null}]}');
  });

  it('keeps unknown content that providers require in follow-up requests', () => {
    const text = request('').replace(
      '[{',
      '[{"role":"assistant","content":"a","reasoning_details":[{"type":"x","Any":{"Thing":1}}]},{',
    );
    expect(checked(text)).toBe(text);
  });

  it('parses to the same value as the original JSON, even with duplicate names', () => {
    const names = fc.constantFrom('model', 'n', 'x', 'min_p', 'a"b', '\u2028');
    const value = fc.json({ maxDepth: 2 });
    const members = fc.array(fc.tuple(names, value), { maxLength: 8 });
    fc.assert(
      fc.property(members, (given) => {
        const text = `{${given.map(([name, json]) => `${JSON.stringify(name)} : ${json}`).join(' , ')}}`;
        const read = JSON.parse(text) as ChatRequest;
        const checking = new JsonText(text);
        RequestText.checked(checking, read);
        expect(JSON.parse(checking.text)).toEqual(read);
      }),
    );
  });
});
