import type { IncomingMessage } from 'node:http';
import type { LogEntry, Outcome } from './log.js';
import type { Simulation } from './simulation.js';

/** Adds a request to the log. */
export function openEntry(
  simulation: Simulation,
  id: string,
  received: { request: IncomingMessage; text: string },
): LogEntry {
  const { request, text } = received;
  const entry: LogEntry = {
    id,
    at: new Date().toISOString(),
    model: '',
    stream: false,
    headers: request.headers,
    body: text,
    bodyBytes: Number(request.headers['content-length'] ?? Buffer.byteLength(text)),
    outcome: 'pending',
    status: 0,
    promptTokens: 0,
    cachedTokens: 0,
    completionTokens: 0,
  };
  simulation.log.add(entry);
  return entry;
}

/** Sets the outcome of a request, once. */
export function closeEntry(
  simulation: Simulation,
  entry: LogEntry,
  outcome: Exclude<Outcome, 'pending'>,
): void {
  if (entry.outcome !== 'pending') return;
  entry.outcome = outcome;
  simulation.counts[outcome]++;
}
