import { useRef, useState } from 'preact/hooks';
import { streamChat } from '../api/chat-stream.js';
import { announceAloud } from '../ui/announce.js';
import { type ModelTurn, type Settings, type Turn, bodyOf, newTurn, withChunk } from './conversation.js';

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

/** The end of a stream that has thrown. */
const broken = (turn: ModelTurn, error: unknown): ModelTurn =>
  isAbort(error)
    ? { ...turn, end: 'stopped' }
    : { ...turn, end: 'failed', error: error instanceof Error ? error : new Error(String(error)) };

/**
 * Streams a response. It is drawn once a frame at most, however fast the chunks arrive: what is drawn is
 * parsed again from its beginning.
 */
async function stream(
  settings: Settings,
  turns: readonly Turn[],
  draw: { readonly signal: AbortSignal; readonly show: (turn: ModelTurn) => void },
): Promise<ModelTurn> {
  const startMs = performance.now();
  let turn = newTurn(settings.model);
  let frame = 0;
  try {
    for await (const chunk of streamChat(bodyOf(settings, turns), draw.signal)) {
      turn = withChunk(turn, chunk);
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw.show(turn);
      });
    }
    if (turn.end === 'running') turn = { ...turn, end: 'complete' };
  } catch (error) {
    turn = broken(turn, error);
  }
  cancelAnimationFrame(frame);
  return { ...turn, durationMs: Math.round(performance.now() - startMs) };
}

/** A conversation, which only this page keeps. */
export function useConversation(onEnd: () => void) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const abort = useRef<AbortController>(null);
  const [isRunning, setRunning] = useState(false);
  const run = async (settings: Settings, before: readonly Turn[]) => {
    const controller = new AbortController();
    abort.current = controller;
    setRunning(true);
    announceAloud('');
    setTurns([...before, newTurn(settings.model)]);
    const show = (turn: ModelTurn) => setTurns([...before, turn]);
    const turn = await stream(settings, before, { signal: controller.signal, show });
    show(turn);
    setRunning(false);
    announceAloud(turn.end === 'failed' ? 'The response failed' : 'The response is complete');
    onEnd();
  };
  return {
    turns,
    isRunning,
    send: (settings: Settings, added: readonly Turn[]) => void run(settings, [...turns, ...added]),
    /** Asks for the last response again. */
    retry: (settings: Settings) =>
      void run(settings, turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns),
    stop: () => abort.current?.abort(),
    clear: () => setTurns([]),
  };
}
