import { describe, expect, it } from 'vitest';
import { jobs } from './openai-videos.js';

const job = (status: string, more: object = {}): string => JSON.stringify({ id: 'video_1', status, ...more });

/** Parsed by undici, which knows nothing of how it was written. */
function formOf(body: Buffer, headers: Record<string, string>): Promise<FormData> {
  const response: { formData: () => Promise<FormData> } = new Response(body, { headers });
  return response.formData();
}

describe('a submitted job', () => {
  it('is a form with its fields and its files, in which no field replaces ours', async () => {
    const { headers, body = [] } = jobs.submit('wan', {
      prompt: 'a "cat"\r\n--svc-x--',
      seconds: 5,
      width: 1_280,
      height: 720,
      fields: { voice: 'a', 'odd"name': 'x' },
      others: { seed: '7', seconds: '600', voice: 'b' },
      picture: { type: 'image/png', base64: Buffer.from([0, 255, 13, 10]).toString('base64') },
      inputs: ['AAEC', 'AwQF'].map((base64) => ({ part: 'references[]', type: 'video/mp4', base64 })),
    });
    const form = await formOf(Buffer.concat(body), { ...headers });
    expect(form.get('prompt')).toBe('a "cat"\r\n--svc-x--');
    expect([form.get('model'), form.getAll('seconds'), form.get('size'), form.get('seed')]).toEqual([
      'wan',
      ['5'],
      '1280x720',
      '7',
    ]);
    expect(form.getAll('voice')).toEqual(['a']);
    expect(form.get('odd"name')).toBe('x');
    const picture = form.get('input_reference');
    if (!(picture instanceof File)) throw new Error('the picture is no file');
    expect(picture.type).toBe('image/png');
    expect(Buffer.from(await picture.arrayBuffer())).toEqual(Buffer.from([0, 255, 13, 10]));
    const references = form.getAll('references[]').filter((part) => part instanceof File);
    expect(references.map(({ type }) => type)).toEqual(['video/mp4', 'video/mp4']);
  });

  it.each([200, 201, 202])('is accepted with the status %i', (status) => {
    expect(jobs.readSubmitted({ status, body: job('queued') })).toEqual({ job: 'video_1' });
  });

  it.each([
    [200, '<html>'],
    [200, '{"error":{"message":"no"}}'],
    [429, job('queued')],
    [500, ''],
  ])('is not accepted with the status %i and the body %s', (status, body) => {
    expect(() => jobs.readSubmitted({ status, body })).toThrow('backend responded');
  });
});

describe('the status of a job', () => {
  it.each([
    ['queued', 'running'],
    ['in_progress', 'running'],
    ['anything', 'running'],
    ['completed', 'completed'],
  ])('%s means %s', (status, state) => {
    expect(jobs.readStatus({ status: 200, body: job(status) })).toEqual({ state });
  });

  it.each([200, 422, 500])('shows a failure, whose response has the status %i', (status) => {
    const body = job('failed', { error: { code: 'server_error', message: 'CUDA out of memory' } });
    expect(jobs.readStatus({ status, body })).toEqual({
      state: 'failed',
      isRefused: false,
      message: 'CUDA out of memory',
    });
  });

  it.each(['content_policy_violation', 'moderation_blocked'])('shows a refusal by the code %s', (code) => {
    const body = job('failed', { error: { code, message: 'Not allowed' } });
    expect(jobs.readStatus({ status: 200, body })).toMatchObject({ state: 'failed', isRefused: true });
  });

  it('is unknown if the backend does not have the job', () => {
    expect(jobs.readStatus({ status: 404, body: '{"detail":"not found"}' })).toEqual({ state: 'unknown' });
  });

  it.each([429, 500, 503])('is no verdict with the status %i', (status) => {
    expect(() => jobs.readStatus({ status, body: '{"detail":"busy"}' })).toThrow('backend responded');
  });
});
