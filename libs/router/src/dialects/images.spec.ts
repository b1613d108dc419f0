import { BackendError, type PlannedRequest } from '@svc/backend-calls';
import { Backend } from '@svc/contracts/catalog';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openai } from './openai.js';
import { withoutTags } from './prompt-tags.js';
import { sdapi } from './sdapi.js';

const BACKEND = Backend.parse({ url: 'http://127.0.0.1:1/v1', model: 'm' });
const order = { prompt: 'a lighthouse', count: 2, width: 512, height: 768, others: {} };
const bodyOf = ({ body = [] }: PlannedRequest): unknown => JSON.parse(Buffer.concat(body).toString());

describe("an image request in OpenAI's API", () => {
  it('always asks for base64 of PNGs', () => {
    expect(
      bodyOf(openai.images.make.request(BACKEND, { ...order, seed: 0, steps: 4, guidance: 2.5 })),
    ).toEqual({
      model: 'm',
      prompt: 'a lighthouse',
      n: 2,
      size: '512x768',
      response_format: 'b64_json',
      output_format: 'png',
      num_inference_steps: 4,
      guidance_scale: 2.5,
      seed: 0,
    });
  });

  it('has further members, none of which replaces ours', () => {
    const others = { n: 9, size: '1x1', num_inference_steps: 99, response_format: 'url', true_cfg_scale: 4 };
    expect(bodyOf(openai.images.make.request(BACKEND, { ...order, others, steps: 4 }))).toEqual({
      model: 'm',
      prompt: 'a lighthouse',
      n: 2,
      size: '512x768',
      response_format: 'b64_json',
      output_format: 'png',
      num_inference_steps: 4,
      true_cfg_scale: 4,
    });
  });
});

describe('a response with images', () => {
  it('is read as base64 or as URLs', () => {
    const body = JSON.stringify({ data: [{ b64_json: 'aaaa' }, { b64_json: null, url: '/x.png' }] });
    expect(openai.images.read(Buffer.from(body))).toEqual([{ base64: 'aaaa' }, { url: '/x.png' }]);
    expect(sdapi.images.read(Buffer.from(JSON.stringify({ images: ['aaaa'] })))).toEqual([
      { base64: 'aaaa' },
    ]);
  });

  it.each(['', '<html>', '{}', '{"data":[]}', '{"data":[{}]}', '{"images":[]}', '{"data":[{"url":5}]}'])(
    'is a fault without images: %s',
    (body) => {
      expect(() => openai.images.read(Buffer.from(body))).toThrow(/image/);
      expect(() => sdapi.images.read(Buffer.from(body))).toThrow(/image/);
    },
  );

  it('that is an error is reported with its status', () => {
    const body = JSON.stringify({ error: { message: 'no', code: 503 } });
    for (const dialect of [openai, sdapi])
      expect(() => dialect.images.read(Buffer.from(body))).toThrow(BackendError);
  });
});

describe('a prompt for an image server', () => {
  it('cannot contain settings or networks, however it is written', () => {
    const piece = fc.constantFrom(
      'sd_cpp',
      '_extra_args',
      'SD_CPP_EXTRA_ARGS',
      '<',
      '/',
      '>',
      'lora',
      ':',
      ' ',
      '{}',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const prompt = withoutTags(pieces.join(''));
        expect(prompt).not.toMatch(/sd_cpp_extra_args/i);
        expect(prompt).not.toMatch(/<\s*(lora|lyco|hypernet)\s*:/i);
      }),
    );
  });

  it('keeps everything else', () => {
    expect(withoutTags('a < b, {c|d}, (e:1.2) explora: f')).toBe('a < b, {c|d}, (e:1.2) explora: f');
  });

  it('has a seed that is not random, even if it is negative', () => {
    expect(bodyOf(sdapi.images.make.request(BACKEND, { ...order, seed: -1 }))).toMatchObject({
      seed: 4_294_967_295,
    });
    expect(bodyOf(sdapi.images.make.request(BACKEND, { ...order, seed: 0 }))).toMatchObject({ seed: 0 });
  });

  it('is sent with further members, none of which replaces ours', () => {
    const others = { sampler_name: 'Euler', batch_size: 9 };
    expect(bodyOf(sdapi.images.make.request(BACKEND, { ...order, others, negativePrompt: 'fog' }))).toEqual({
      sampler_name: 'Euler',
      prompt: 'a lighthouse',
      negative_prompt: 'fog',
      width: 512,
      height: 768,
      batch_size: 2,
    });
  });
});
