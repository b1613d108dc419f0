import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GROWTH_MS, doublings, growthFaults } from './growth.js';
import { decent } from './hostile-backend.js';
import { HostileHarness } from './harness.js';

let harness: HostileHarness;

beforeAll(async () => {
  harness = await HostileHarness.start();
  harness.backend.behave = decent();
});

afterAll(async () => {
  await harness.stop();
});

const message = (content: string): string => `{"role":"user","content":${content}}`;
const body = (members: string, content = '"hi"'): string =>
  `{"model":"able","max_tokens":1,"messages":[${message(content)}]${members}}`;
const part = (type: string, value: string): string => body('', `[{"type":"${type}","${type}":${value}}]`);

/** This number of messages, with this total number of bytes. */
const texts = (size: number, count: number): string =>
  Array.from({ length: count }, () => message(`"${'a'.repeat(Math.max(1, size / count - 30))}"`)).join(',');

/** The service may close the connection of a client that still sends a refused body. */
const CUT = 0;

async function statusOf(text: string): Promise<number> {
  try {
    return (await harness.ask(text)).status;
  } catch (error) {
    if (error instanceof TypeError) return CUT;
    throw error;
  }
}

interface HostileClass {
  readonly name: string;
  /** In bytes, up to the maximum of a body. */
  readonly largest: number;
  /** A body of about this number of bytes. */
  readonly of: (size: number) => string;
}

const CLASSES: readonly HostileClass[] = [
  {
    name: 'a model with a suffix of escapes',
    largest: 30_000_000,
    of: (size) => body('').replace('able', `able:character_slug=${'%41'.repeat(size / 3)}`),
  },
  {
    name: 'a model with a suffix of members',
    largest: 30_000_000,
    of: (size) => body('').replace('able', `able:a=1${'&a=1'.repeat(size / 4)}`),
  },
  { name: 'a model of dots', largest: 30_000_000, of: (size) => body('').replace('able', '.'.repeat(size)) },
  {
    name: 'a model of colons',
    largest: 30_000_000,
    of: (size) => body('').replace('able', ':a='.repeat(size / 3)),
  },
  {
    name: 'members of the request',
    largest: 16_000_000,
    of: (size) => body(Array.from({ length: size / 12 }, (_, at) => `,"m${at}":1`).join('')),
  },
  {
    name: 'members of the parameters of a tool',
    largest: 16_000_000,
    of: (size) =>
      body(
        `,"tools":[{"type":"function","function":{"name":"f","parameters":{${Array.from({ length: size / 12 }, (_, at) => `"p${at}":{}`).join(',')}}}}]`,
      ),
  },
  {
    name: 'messages that are none',
    largest: 16_000_000,
    of: (size) => `{"model":"able","messages":[${'0,'.repeat(size / 2)}0]}`,
  },
  {
    name: 'parts of messages that are none',
    largest: 120_000,
    of: (size) =>
      `{"model":"able","messages":[${Array.from({ length: size / 6_100 }, () => message(`[${'{},'.repeat(1_999)}{}]`)).join(',')}]}`,
  },
  {
    name: 'calls of tools that are none',
    largest: 120_000,
    of: (size) =>
      `{"model":"able","messages":[${Array.from({ length: size / 3_100 }, () => `{"role":"assistant","tool_calls":[${'{},'.repeat(999)}{}]}`).join(',')}]}`,
  },
  {
    name: 'biases that are none',
    largest: 500_000,
    of: (size) =>
      body(`,"logit_bias":{${Array.from({ length: size / 13 }, (_, at) => `"k${at}":"x"`).join(',')}}`),
  },
  {
    name: 'the names of members, the same again and again',
    largest: 400_000,
    of: (size) => body(',"Model":1'.repeat(size / 10)),
  },
  {
    name: 'an image of percent escapes',
    largest: 30_000_000,
    of: (size) => part('image_url', `{"url":"data:image/png,${'%41'.repeat(size / 3)}"}`),
  },
  {
    name: 'an image of base64',
    largest: 30_000_000,
    of: (size) => part('image_url', `{"url":"data:image/png;base64,${'A'.repeat(size)}"}`),
  },
  {
    name: 'a file of percent escapes',
    largest: 30_000_000,
    of: (size) => part('file', `{"file_data":"data:text/plain,${'%41'.repeat(size / 3)}"}`),
  },
  {
    name: 'a file of base64 with spaces',
    largest: 30_000_000,
    of: (size) => part('file', `{"file_data":"data:text/plain;base64,${'QUJD '.repeat(size / 5)}"}`),
  },
  {
    name: 'a video of base64',
    largest: 30_000_000,
    of: (size) =>
      part('video_url', `{"url":"data:video/mp4;base64,AAAAGGZ0eXBtcDQy${'AAAA'.repeat(size / 4)}"}`),
  },
  {
    name: 'audio of base64',
    largest: 30_000_000,
    of: (size) => part('input_audio', `{"data":"${'AAAA'.repeat(size / 4)}"}`),
  },
  {
    name: 'a text of quotes in escapes',
    largest: 16_000_000,
    of: (size) => body('', `"${'\\"'.repeat(size / 2)}"`),
  },
  {
    name: 'a text of backslashes',
    largest: 16_000_000,
    of: (size) => body('', `"${'\\\\'.repeat(size / 2)}"`),
  },
  {
    name: 'an unknown member of letters in escapes',
    largest: 30_000_000,
    of: (size) => body(`,"x":"${'\\u0041'.repeat(size / 6)}"`),
  },
  {
    name: 'an unknown member of letters',
    largest: 30_000_000,
    of: (size) => body(`,"x":"${'a'.repeat(size)}"`),
  },
  {
    name: 'an unknown member of characters of three bytes',
    largest: 30_000_000,
    of: (size) => body(`,"x":"${'語'.repeat(size / 3)}"`),
  },
  {
    name: 'an unknown member of control characters in escapes',
    largest: 30_000_000,
    of: (size) => body(`,"x":"${'\\u0001'.repeat(size / 6)}"`),
  },
  {
    name: 'texts of many messages',
    largest: 30_000_000,
    of: (size) => `{"model":"able","max_tokens":1,"messages":[${texts(size, 9_000)}]}`,
  },
  {
    name: 'texts of many messages, just too short to be taken out',
    largest: 2_000_000,
    of: (size) => `{"model":"able","max_tokens":1,"messages":[${texts(size, size / 125)}]}`,
  },
  {
    name: 'a default of the parameters of a tool',
    largest: 30_000_000,
    of: (size) =>
      body(
        `,"tools":[{"type":"function","function":{"name":"f","parameters":{"default":"${'\\u0001'.repeat(size / 6)}"}}}]`,
      ),
  },
  {
    name: 'arguments of a call of a tool',
    largest: 30_000_000,
    of: (size) =>
      body('').replace(
        '"messages":[',
        `"messages":[{"role":"assistant","tool_calls":[${Array.from(
          { length: 4 },
          (_, at) =>
            `{"id":"c${at}","type":"function","function":{"name":"f","arguments":"${'\\\\'.repeat(size / 8)}"}}`,
        ).join(',')}]},`,
      ),
  },
  { name: 'spaces', largest: 30_000_000, of: (size) => body(`,"x":${' '.repeat(size)}1`) },
  { name: 'a number of digits', largest: 30_000_000, of: (size) => body(`,"x":${'1'.repeat(size)}`) },
  {
    name: 'a number of digits, as long as it may be',
    largest: 4_000_000,
    of: (size) => body(`,"x":${'1'.repeat(size)}`),
  },
  {
    name: 'names in escapes, as long as they may be together',
    largest: 4_000_000,
    of: (size) => body(`,"${'\\u0041'.repeat(size / 6)}":1`),
  },
  {
    name: 'numbers as many as there may be',
    largest: 4_000_000,
    of: (size) => body(`,"x":[${Array.from({ length: size / 101 }, () => '1'.repeat(100)).join(',')}]`),
  },
];

describe.each(CLASSES)('$name', ({ largest, of }) => {
  const send = async (size: number): Promise<void> => {
    const status = await statusOf(of(size));
    expect([200, 400, 404, 413, CUT]).toContain(status);
  };

  it('take time proportional to their size', { timeout: GROWTH_MS }, async () => {
    expect(await growthFaults(harness.probe, doublings(largest), send)).toEqual([]);
  });

  it('block the event loop no longer than a unit of work', async () => {
    const text = of(largest);
    let units = Number.POSITIVE_INFINITY;
    // The lowest of several attempts is the least disturbed one.
    for (let attempt = 0; attempt < 5 && units >= 1; attempt += 1)
      units = Math.min(units, await harness.probe.longestHold(() => statusOf(text)));
    expect(units).toBeLessThan(1);
  });
});

it('leave nothing behind', async () => {
  expect(await harness.afterwards()).toEqual([]);
});
