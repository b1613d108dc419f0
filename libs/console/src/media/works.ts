import { effect, signal } from '@preact/signals';
import { session } from '../api/session.js';
import { announceAloud } from '../ui/announce.js';

/** What a model has made: the address of a blob of this page, and its price where the response says it. */
export interface MadeMedium {
  readonly url: string;
  readonly costUsd?: number;
}

/** How long a job has run and how long such jobs usually take. */
export interface WorkTimes {
  readonly runMs: number;
  readonly usualMs: number;
}

/** Something that was asked of a model: under way, made, or failed. */
export interface Work {
  readonly id: number;
  /** The form that it belongs to. */
  readonly title: string;
  readonly prompt: string;
  readonly times?: WorkTimes;
  readonly made?: MadeMedium;
  readonly error?: Error;
}

/** What reports the progress of a work. Returns false if nobody waits for it any more. */
export type ShowTimes = (times: WorkTimes) => boolean;

/** Older ones are dropped. */
const WORKS_AT_MOST = 50;

/** What has been asked of models since the sign-in, newest first. It stays while other pages are open. */
export const works = signal<readonly Work[]>([]);
let count = 0;

function drop(dropped: readonly Work[]): void {
  for (const { made } of dropped) if (made) URL.revokeObjectURL(made.url);
}

/** Nobody sees what another session has made. */
let owner = session.peek()?.id;
effect(() => {
  const id = session.value?.id;
  if (id === owner) return;
  owner = id;
  drop(works.peek());
  works.value = [];
});

function change(id: number, changes: Partial<Work>): boolean {
  if (!works.peek().some((work) => work.id === id)) return false;
  works.value = works.peek().map((work) => (work.id === id ? { ...work, ...changes } : work));
  return true;
}

/** Begins a work, and shows what becomes of it. */
export async function begin(
  title: string,
  prompt: string,
  make: (report: ShowTimes) => Promise<MadeMedium>,
): Promise<void> {
  const id = (count += 1);
  drop(works.peek().slice(WORKS_AT_MOST - 1));
  works.value = [{ id, title, prompt }, ...works.peek().slice(0, WORKS_AT_MOST - 1)];
  try {
    const made = await make((times) => change(id, { times }));
    if (!change(id, { made })) URL.revokeObjectURL(made.url);
    announceAloud(`${title}: ready`);
  } catch (cause) {
    change(id, { error: cause instanceof Error ? cause : new Error(String(cause)) });
  }
}
