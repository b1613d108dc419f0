import type { FastifyInstance } from 'fastify';
import { ApiError, invalidRequest } from '../http/api-error.js';
import { ClientConnection, ClientGone } from '../http/connection.js';
import { closeEntry, openEntry } from '../engine/entries.js';
import type { LogEntry } from '../engine/log.js';
import type { Simulation } from '../engine/simulation.js';
import { parseJson } from '../request/chat-request.js';
import { faultError, isFault } from '../request/faults.js';
import { type SpokenFormat, audioFile, isAudioFormat } from './audio-files.js';

/** Slow speech. */
const CHARACTERS_PER_SECOND = 15;
const MS_AT_MOST = 600_000;
const DEFAULT_RETRY_S = 1;

/** The pieces before a fault in mid-stream. */
const DEFAULT_AFTER = 1;

interface SpeechCall {
  readonly model: string;
  readonly format: SpokenFormat;
  readonly seconds: number;
  readonly isStreamed: boolean;
  /** Those of chats that break the transport, an error status, `html`, `json`, `type` or `nothing`. */
  readonly faults: ReadonlySet<string>;
  readonly ttftMs: number;
  readonly itlMs: number;
  readonly after: number;
}

/**
 * Serves OpenAI's speech. A second of it is a piece of a stream; `stream: false` sends a whole file. Settings
 * follow the model's name, as in `voice;fault=cut-mid-stream;after=3;ttft-ms=20;itl-ms=100`.
 */
export function addSpeechRoutes(app: FastifyInstance, simulation: Simulation): void {
  app.post('/v1/audio/speech', async ({ body, raw: request }, reply) => {
    const text = typeof body === 'string' ? body : '';
    const entry = openEntry(simulation, simulation.newId(), { request, text });
    const call = readLogged(text, entry, simulation);
    reply.hijack();
    const progress = { pieces: 0, isDone: false };
    const connection = new ClientConnection(reply.raw, () => {
      if (simulation.isStopping) return;
      const { id, model, stream } = entry;
      const phase = progress.pieces > 0 ? 'decode' : 'prefill';
      const at = new Date().toISOString();
      closeEntry(simulation, entry, 'cancelled');
      simulation.log.addCancellation({ id, model, at, tokensDelivered: progress.pieces, stream, phase });
    });
    try {
      await speak(call, connection, progress);
      closeEntry(simulation, entry, call.faults.size > 0 ? 'fault' : 'served');
    } catch (error) {
      if (!(error instanceof ClientGone)) throw error;
      closeEntry(simulation, entry, 'fault');
    }
  });
}

/** Reads a request, and logs its refusal. */
function readLogged(text: string, entry: LogEntry, simulation: Simulation): SpeechCall {
  try {
    const call = readCall(text, simulation);
    Object.assign(entry, { model: call.model, stream: call.isStreamed });
    return call;
  } catch (error) {
    closeEntry(simulation, entry, 'refused');
    throw error;
  }
}

function readCall(text: string, simulation: Simulation): SpeechCall {
  const body = parseJson(text);
  const { response_format: format = 'mp3', speed, stream } = body;
  const voice = body['ref_audio'] === undefined ? 'voice' : 'ref_audio';
  const [model, input] = ['model', 'input', voice].map((name) => textOf(body, name));
  if (!isAudioFormat(format)) throw invalidRequest('Unknown format.', 'response_format');
  const defaults = simulation.takeDefaults();
  const [id = '', ...settings] = (model ?? '').split(';');
  const named = new Map(settings.map((setting) => setting.split('=', 2) as [string, string | undefined]));
  const faults = new Set([...(named.get('fault')?.split(',') ?? []), ...(defaults.faults ?? [])]);
  const refusal = faultError(new Set([...faults].filter(isFault)), defaults.retryAfterS ?? DEFAULT_RETRY_S);
  if (refusal) throw refusal;
  const { ttftMs, itlMs } = simulation.options;
  return {
    model: id,
    format,
    seconds: [...(input ?? '')].length / CHARACTERS_PER_SECOND / (Number(speed) || 1),
    isStreamed: stream !== false,
    faults,
    ttftMs: within(named.get('ttft-ms') ?? defaults.ttftMs ?? ttftMs),
    itlMs: within(named.get('itl-ms') ?? defaults.itlMs ?? itlMs),
    after: within(named.get('after') ?? defaults.after ?? DEFAULT_AFTER),
  };
}

function textOf(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value === 'string' && value !== '') return value;
  throw invalidRequest(`'${name}' is required.`, name);
}

function within(value: unknown): number {
  const number = Number(value);
  if (number >= 0 && number <= MS_AT_MOST) return number;
  throw new ApiError(400, `A setting must be a number up to ${MS_AT_MOST}.`, { param: 'model' });
}

async function speak(
  call: SpeechCall,
  connection: ClientConnection,
  progress: { pieces: number },
): Promise<void> {
  const { faults, isStreamed, ttftMs } = call;
  if (faults.has('cut')) return connection.drop();
  if (faults.has('stall')) await connection.stall();
  await connection.until(performance.now() + ttftMs);
  const { bytes, type } = fileOf(call);
  const { response } = connection;
  if (!isStreamed && !isBroken(call)) {
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
    return;
  }
  connection.openStream({ 'content-type': type });
  const size = Math.ceil(bytes.length / Math.max(1, Math.ceil(call.seconds)));
  for (let at = 0; at < bytes.length; at += size) {
    if (at > 0) await connection.until(performance.now() + call.itlMs);
    if (progress.pieces >= call.after && isBroken(call)) return breakOff(call, connection);
    await connection.writeThrough(bytes.subarray(at, at + size));
    progress.pieces += 1;
  }
  if (isBroken(call)) return breakOff(call, connection);
  response.end();
}

const BREAKS = ['cut-mid-stream', 'reset-mid-stream', 'stall-mid-stream'];

const isBroken = ({ faults }: SpeechCall): boolean => BREAKS.some((fault) => faults.has(fault));

async function breakOff({ faults }: SpeechCall, connection: ClientConnection): Promise<void> {
  if (faults.has('stall-mid-stream')) await connection.stall();
  connection.drop(faults.has('reset-mid-stream'));
}

/** The response, which some faults replace. */
function fileOf({ format, seconds, faults }: SpeechCall): { bytes: Buffer; type: string } {
  const file = audioFile(format, seconds);
  if (faults.has('html'))
    return { bytes: Buffer.from('<!doctype html><title>502 Bad Gateway</title>'), type: 'text/html' };
  if (faults.has('json'))
    return { bytes: Buffer.from('{"error":{"message":"out of memory"}}'), type: file.type };
  if (faults.has('type')) return audioFile(format === 'wav' ? 'mp3' : 'wav', seconds);
  return faults.has('nothing') ? { ...file, bytes: Buffer.alloc(0) } : file;
}
