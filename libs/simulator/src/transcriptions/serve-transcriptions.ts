import type { FastifyInstance, FastifyRequest } from 'fastify';
import { prose } from '../completion/prose.js';
import { closeEntry, openEntry } from '../engine/entries.js';
import type { LogEntry } from '../engine/log.js';
import type { Simulation } from '../engine/simulation.js';
import { ApiError, invalidRequest } from '../http/api-error.js';
import { ClientConnection, ClientGone } from '../http/connection.js';
import { type SimulatedPart, partsOf } from '../http/form-parts.js';
import { Hash, Random } from '../random.js';
import { faultError, isFault } from '../request/faults.js';
import type { Overrides } from '../request/overrides.js';

const SEGMENT_SECONDS = 5;
const SEGMENT_TOKENS = 12;
const SECONDS_AT_MOST = 100_000;
const MS_AT_MOST = 600_000;
const DEFAULT_RETRY_S = 1;

/** Of files other than WAV: 32 kbit/s, as the MP3 of the simulator's speech. */
const BYTES_PER_SECOND = 4_000;

/** The server whose API a request uses. */
interface Surface {
  readonly path: string;
  readonly task: 'transcribe' | 'translate';
  readonly isWhisperCpp?: true;
}

const SURFACES: readonly Surface[] = [
  { path: '/v1/audio/transcriptions', task: 'transcribe' },
  { path: '/v1/audio/translations', task: 'translate' },
  { path: '/inference', task: 'transcribe', isWhisperCpp: true },
];

interface TranscriptionCall {
  readonly model: string;
  readonly format: string;
  readonly task: Surface['task'];
  readonly hasWords: boolean;
  readonly seconds: number;
  /** Of the file. */
  readonly hash: number;
  /** `cut`, `stall`, `plain` (no verbose response), `silence`, `html`, `text-duration` or `no-times`. */
  readonly faults: ReadonlySet<string>;
  readonly delayMs: number;
}

/**
 * Serves OpenAI's transcriptions and translations, and those of whisper.cpp: the same text for the same file,
 * in segments of five seconds. Settings follow the model's name, as in `ear;seconds=12.5;fault=plain`;
 * whisper.cpp has no model, and only the settings of the next requests. The log has the members of each form
 * as JSON.
 */
export function addTranscriptionRoutes(app: FastifyInstance, simulation: Simulation): void {
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, parsed) =>
      parsed(null, body),
    );
    for (const surface of SURFACES) {
      scope.post(surface.path, async (request, reply) => {
        const { entry, call } = readLogged(request, surface, simulation);
        reply.hijack();
        const connection = new ClientConnection(reply.raw, () => {
          if (simulation.isStopping) return;
          const { id, model, stream } = entry;
          closeEntry(simulation, entry, 'cancelled');
          const at = new Date().toISOString();
          simulation.log.addCancellation({ id, model, at, tokensDelivered: 0, stream, phase: 'prefill' });
        });
        try {
          await respond(call, surface, connection);
          closeEntry(simulation, entry, call.faults.size > 0 ? 'fault' : 'served');
        } catch (error) {
          if (!(error instanceof ClientGone)) throw error;
          closeEntry(simulation, entry, 'fault');
        }
      });
    }
    done();
  });
}

/** Reads a request, and logs its refusal. */
function readLogged(
  { body, headers, raw: request }: FastifyRequest,
  surface: Surface,
  simulation: Simulation,
): { entry: LogEntry; call: TranscriptionCall } {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const parts = partsOf(bytes, headers['content-type'] ?? '');
  const text = JSON.stringify(parts.map(shownPart));
  const entry = openEntry(simulation, simulation.newId(), { request, text });
  try {
    const call = readCall(parts, surface, simulation.takeDefaults());
    entry.model = call.model;
    return { entry, call };
  } catch (error) {
    closeEntry(simulation, entry, 'refused');
    throw error;
  }
}

const shownPart = ({ name, type, content }: SimulatedPart): [string, unknown] => [
  name,
  type === undefined ? content.toString() : { type, bytes: content.length },
];

function readCall(parts: readonly SimulatedPart[], surface: Surface, defaults: Overrides): TranscriptionCall {
  const texts = (name: string): string[] =>
    parts.flatMap((part) => (part.name === name && part.type === undefined ? [part.content.toString()] : []));
  const file = parts.find(({ name, type }) => name === 'file' && type !== undefined)?.content;
  if (!file) throw invalidRequest("'file' is required.", 'file');
  const [model = '', ...settings] = (texts('model')[0] ?? '').split(';');
  if (model === '' && !surface.isWhisperCpp) throw invalidRequest("'model' is required.", 'model');
  const named = new Map(settings.map((setting) => setting.split('=', 2) as [string, string | undefined]));
  const faults = new Set<string>([...(named.get('fault')?.split(',') ?? []), ...(defaults.faults ?? [])]);
  const refusal = faultError(new Set([...faults].filter(isFault)), defaults.retryAfterS ?? DEFAULT_RETRY_S);
  if (refusal) throw refusal;
  const isTranslated = surface.task === 'translate' || texts('translate').includes('true');
  return {
    model,
    format: formatOf(texts('response_format')[0], faults),
    task: isTranslated ? 'translate' : 'transcribe',
    hasWords: surface.isWhisperCpp === true || texts('timestamp_granularities[]').includes('word'),
    seconds: within(named.get('seconds') ?? secondsOf(file), SECONDS_AT_MOST),
    hash: new Hash().add(file.toString('latin1')).value(),
    faults,
    delayMs: within(named.get('delay-ms') ?? defaults.delayMs ?? 0, MS_AT_MOST),
  };
}

function formatOf(requested: string | undefined, faults: ReadonlySet<string>): string {
  const format = requested ?? 'json';
  if (format === 'json' || (format === 'verbose_json' && !faults.has('plain'))) return format;
  throw invalidRequest(`The format '${format}' is not supported.`, 'response_format');
}

function within(value: unknown, most: number): number {
  const number = Number(value);
  if (number >= 0 && number <= most) return number;
  throw new ApiError(400, `A setting must be a number up to ${most}.`, { param: 'model' });
}

/** A WAV file has its rate in its head; its length is that of its data. Others may begin with a tag. */
function secondsOf(whole: Buffer): number {
  const isTagged = whole.toString('latin1', 0, 3) === 'ID3';
  const [a = 0, b = 0, c = 0, d = 0] = whole.subarray(6, 10);
  const file = isTagged ? whole.subarray(10 + (((a * 128 + b) * 128 + c) * 128 + d)) : whole;
  const data = file.indexOf('data', 36, 'latin1');
  if (file.toString('latin1', 0, 4) !== 'RIFF' || data === -1) return file.length / BYTES_PER_SECOND;
  return (file.length - data - 8) / Math.max(1, file.readUInt32LE(28));
}

async function respond(
  call: TranscriptionCall,
  surface: Surface,
  connection: ClientConnection,
): Promise<void> {
  const { faults, delayMs } = call;
  if (faults.has('cut')) return connection.drop();
  if (faults.has('stall')) await connection.stall();
  await connection.until(performance.now() + delayMs);
  const type = faults.has('html') ? 'text/html' : 'application/json';
  const body = faults.has('html') ? '<title>Bad gateway</title>' : JSON.stringify(replyTo(call, surface));
  connection.response.writeHead(200, { 'content-type': type }).end(body);
}

function replyTo(call: TranscriptionCall, { isWhisperCpp }: Surface): object {
  const { seconds, faults, format, task, hasWords } = call;
  const segments = faults.has('silence') ? [] : segmentsOf(call);
  const text = segments.map((segment) => segment.text).join(' ');
  if (format === 'json') {
    if (isWhisperCpp || faults.has('no-times')) return { text };
    return { text, usage: { type: 'duration', seconds: Math.ceil(seconds) } };
  }
  if (faults.has('no-times')) return { text };
  const words = segments.map(wordsOf);
  return {
    task,
    language: 'english',
    // As vLLM sends it.
    duration: faults.has('text-duration') ? String(seconds) : seconds,
    text,
    segments: isWhisperCpp ? segments.map((each, at) => ({ ...each, words: words[at] })) : segments,
    ...(hasWords && !isWhisperCpp && { words: words.flat() }),
  };
}

interface SimulatedSegment {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function segmentsOf({ seconds, hash, task }: TranscriptionCall): SimulatedSegment[] {
  const random = new Random(hash);
  return Array.from({ length: Math.ceil(seconds / SEGMENT_SECONDS) }, (_, id) => ({
    id,
    start: id * SEGMENT_SECONDS,
    end: Math.min(seconds, (id + 1) * SEGMENT_SECONDS),
    text: `${task === 'translate' && id === 0 ? 'Translated: ' : ''}${prose(random, SEGMENT_TOKENS).join('')}`,
  }));
}

function wordsOf({ start, end, text }: SimulatedSegment): object[] {
  const words = text.split(' ');
  const each = (end - start) / words.length;
  return words.map((word, at) => ({ word, start: start + at * each, end: start + (at + 1) * each }));
}
