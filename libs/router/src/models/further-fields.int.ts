import { Catalog } from '@svc/catalog';
import type { CallKind, WireCall } from '@svc/contracts/inference';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completeFor, streamFor } from '../api/serve-call.js';
import { TestBackend, silent } from '../../test/backend.js';
import { catalogFile, patientRouter } from '../../test/routing.js';

/** What runs, loads, reads or writes something on a server, or changes how much it makes. */
const HARMFUL = `
  frame_interpolation_model_path output_path lora lora_path extra_params extra_body
  num_inference_steps steps short_edge duration num_frames fps frames height width size resolution
  seconds n num_outputs_per_prompt batch_size n_iter best_of beam_size max_new_tokens audio_ctx
  diffusers_kwargs generator_device rollout ref_audio reference_url input_reference image_url
  video_path model_path script_name override_settings alwayson_scripts script_args send_images
  save_images return_download_link enable_teacache enable_upscaling prompt_path config pipeline_config
  vae stream __proto__ constructor Seed SEED seed[] unheard_of
`
  .trim()
  .split(/\s+/);

/** Names that a careless reader would take for another. */
const ODD = [' seed', 'seed\r\nx'];

/** The fields that each kind of backend gets, by kind of call. */
const PASSED: readonly (readonly [string, CallKind, readonly string[]])[] = [
  ['openai', 'speech', ['seed', 'top_k', 'task_type', 'exaggeration']],
  ['openai', 'transcription', ['hotwords', 'seed', 'top_p']],
  ['openai', 'translation', ['hotwords', 'vad_filter']],
  ['openai', 'image', ['true_cfg_scale']],
  ['openai', 'image-edit', ['seed', 'guidance_scale', 'strength']],
  ['openai', 'job-submit', ['seed', 'guidance_scale_2', 'flow_shift', 'bpm']],
  ['kokoro', 'speech', ['volume_multiplier', 'normalization_options']],
  ['whisper-cpp', 'transcription', ['no_speech_thold', 'split_on_word']],
  ['sdapi', 'image', []],
];

const SHAPE = { prompt: 'a', width: 64, height: 64, count: 1 };
const ORDERS: Readonly<Partial<Record<CallKind, object>>> = {
  speech: { input: 'a', voice: 'v', format: 'mp3', isStreamed: false },
  transcription: { timestamps: [] },
  translation: { timestamps: [] },
  image: SHAPE,
  'image-edit': { ...SHAPE, masked: false },
  'job-submit': { prompt: 'a', seconds: 5, fields: {} },
};

/** In everything that is sent, so that it can be found in JSON and in forms. */
const SECRET = 'planted-7f3a';

describe('the further fields of a request for media', () => {
  let backend: TestBackend;
  beforeEach(async () => {
    backend = await TestBackend.start(silent);
  });
  afterEach(() => backend.close());

  /** What a backend of a kind gets of a request with these fields. */
  async function received(
    [backendKind, kind]: readonly [string, CallKind, ...unknown[]],
    others: Readonly<Record<string, string>>,
    extraFields: readonly string[] = [],
  ): Promise<string> {
    const catalog = new Catalog(
      catalogFile({ id: 'm', extraFields, backends: [{ url: backend.url, model: 'x', kind: backendKind }] }),
    );
    const { router, stop } = patientRouter(catalog);
    const leave = new AbortController();
    const body = [Buffer.from(JSON.stringify({ ...ORDERS[kind], others }))];
    const files = [{ name: 'a.wav', type: 'audio/wav', bytes: Buffer.from('RIFF') }];
    const call: WireCall = { kind, requestId: 'r', accountId: 'a', model: 'm', body, files };
    const response =
      kind === 'speech' ? streamFor(router, call, leave.signal) : completeFor(router, call, leave.signal);
    const ended = response.catch(() => undefined);
    await expect.poll(() => backend.requests.length).toBe(1);
    leave.abort();
    await ended;
    await stop();
    return backend.requests[0]?.body ?? '';
  }

  it.each(PASSED)(
    'reach a backend of the kind %s for %s only if it is known to take them',
    async (...row) => {
      const named = [...HARMFUL, ...ODD, ...row[2]].map((name) => [name, `${SECRET}:${name}:`]);
      const text = await received(row, Object.fromEntries(named) as Record<string, string>);
      const passed = [...text.matchAll(new RegExp(`${SECRET}:([^:]+):`, 'g'))].map(([, name]) => name);
      expect(new Set(passed)).toEqual(new Set(row[2]));
    },
  );

  it.each(PASSED)(
    'reach a backend of the kind %s for %s if the catalogue adds them for its model',
    async (...row) => {
      const others = { num_beams: SECRET, other: 'other-7f3a' };
      const text = await received(row, others, ['num_beams']);
      expect([text.includes(SECRET), text.includes('other-7f3a')]).toEqual([true, false]);
    },
  );
});
