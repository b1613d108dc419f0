// Requests many streamed responses at once and checks that each is complete.
import { Agent, request } from 'node:http';
import { STREAM_PACE_MS, TEXT_CHUNKS, TEXT_MARK, events, streamQuestion } from './responses.mjs';
import { cpuMs, mapped, minus, partsCpuMs, untilQuiet } from './cpu.mjs';

const DONE = 'data: [DONE]\n\n';
/** Longer than a marker cut in two, and enough of a refusal to show its reason. */
const KEPT_BYTES = 300;
const QUIET_MS = 5_000;
/** Many times the duration at the backend's pace. */
const DEADLINE_MS = events.length * STREAM_PACE_MS * 8;

/**
 * Requests this number of streams at once. Returns how many were requested, how many were complete (every
 * text chunk, and `[DONE]` at the end), the first fault, the time to the first byte, and microseconds of CPU
 * per chunk: of the gateway, and of its other parts if it lists them.
 */
export async function runStreams({ gateway, streams }) {
  const agent = new Agent({ keepAlive: true, maxSockets: streams });
  const { pid } = gateway.child;
  const chunks = streams * events.length;
  const parts = await partsCpuMs(gateway);
  const before = cpuMs(pid);
  const started = performance.now();
  try {
    const answers = await Promise.all(Array.from({ length: streams }, () => readStream(agent, gateway)));
    const tookMs = performance.now() - started;
    await untilQuiet(pid, QUIET_MS);
    const cpu = cpuMs(pid) - before;
    const used = minus(await partsCpuMs(gateway), parts);
    return {
      opened: streams,
      whole: answers.filter(({ fault }) => fault === undefined).length,
      fault: answers.find(({ fault }) => fault !== undefined)?.fault,
      chunksPerSecond: (chunks * 1000) / tookMs,
      readsPerChunk: sum(answers.map(({ reads }) => reads)) / chunks,
      firstByteMs: sum(answers.map(({ firstByteMs }) => firstByteMs)) / streams,
      cpuMicros: (cpu * 1000) / chunks,
      parts: mapped(used, (ms) => (ms * 1000) / chunks),
    };
  } finally {
    agent.destroy();
  }
}

/**
 * Reads one response to its end, and checks that it has `texts` chunks of text. Never fails: `fault` has the
 * error.
 */
export function readStream(agent, { url, headers }, options = {}) {
  const { texts = TEXT_CHUNKS, deadlineMs = DEADLINE_MS, onFirstByte } = options;
  const started = performance.now();
  const seen = { texts: 0, reads: 0, firstByteMs: 0, tail: Buffer.alloc(0), fault: undefined };
  const signal = AbortSignal.timeout(deadlineMs);
  return new Promise((resolve) => {
    const fail = (error) => resolve({ ...seen, fault: signal.aborted ? 'took too long' : error.message });
    const call = request(url, { method: 'POST', agent, headers, signal }, (response) => {
      response.on('data', (data) => {
        if (seen.reads === 0) {
          seen.firstByteMs = performance.now() - started;
          onFirstByte?.();
        }
        see(seen, data);
      });
      response.on('error', fail);
      response.on('end', () => resolve({ ...seen, fault: faultOf(response.statusCode, seen, texts) }));
    });
    call.on('error', fail);
    call.end(streamQuestion);
  });
}

/** Counts the text chunks that have arrived. */
function see(seen, data) {
  seen.reads += 1;
  const text = Buffer.concat([seen.tail, data]);
  let end = 0;
  for (let at = text.indexOf(TEXT_MARK); at >= 0; at = text.indexOf(TEXT_MARK, end)) {
    seen.texts += 1;
    end = at + TEXT_MARK.length;
  }
  seen.tail = text.subarray(Math.max(end, text.length - KEPT_BYTES));
}

function faultOf(status, { texts, tail }, expected) {
  if (status !== 200) return `status ${status}: ${tail.toString()}`;
  if (texts !== expected) return `${texts} of ${expected} chunks`;
  return tail.toString().endsWith(DONE) ? undefined : 'no [DONE] at the end';
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
