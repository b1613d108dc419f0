import { createHash } from 'node:crypto';
import { type Stats, unwatchFile, watchFile } from 'node:fs';
import type { CatalogCheck, OperatorFileView } from '@svc/api/operator';
import type { Logger } from '@svc/runtime';
import type { Gauge } from '@svc/telemetry';
import type { LastGood } from './last-good.js';
import { FileError } from './yaml-file.js';

/** The polling interval. Polling works where file notifications do not, as on mounted ConfigMaps. */
const POLL_MS = 2_000;

/** The pause before another attempt to keep a version. */
const KEEP_AGAIN_MS = 10_000;

/** Digits of a hash, which are enough to tell versions apart. */
const HASH_DIGITS = 16;

/** The most changes that are kept of one replacement. */
const MOST_CHANGES = 200;

/** A version of a file. */
export interface FileVersion<Value> {
  /** The beginning of the SHA-256 of its text. */
  readonly hash: string;
  /** As it is written in the file. */
  readonly content: unknown;
  /** The same with all defaults. */
  readonly value: Value;
}

/** What distinguishes the operator's files. */
export interface FileRules<Value> {
  readonly name: 'catalog' | 'characters';
  readonly path: string;
  readonly read: () => Promise<FileVersion<Value>>;
  /** What the file would be with this text. */
  readonly readText: (text: string) => Promise<FileVersion<Value>>;
  /** The value of a kept version. Throws if this version of the platform can't read it. */
  readonly valueOf: (content: unknown) => Value;
  readonly changes: (before: Value, after: Value) => string[];
  /** Why a valid version may not replace another; `undefined` if it may. */
  readonly refusal: (before: Value, after: Value) => string | undefined;
  readonly metrics: { readonly info: Gauge<readonly ['hash']>; readonly invalid: Gauge<readonly []> };
}

/** A replacement, or the difference between the last good version and the one at the start. */
export interface FileChange {
  readonly name: FileRules<unknown>['name'];
  readonly hash: string;
  readonly changes: readonly string[];
}

interface Owner {
  readonly logger: Logger;
  readonly undo: (undo: () => void) => void;
}

type Rejected = NonNullable<OperatorFileView['rejected']>;

/**
 * A file of the operator that is read at the start and again whenever it changes. A version that is broken or
 * refused never comes into force: the previous one stays, and a start uses the last good one.
 */
export class OperatorFile<Value> {
  private readonly listeners: ((value: Value, change: FileChange) => void)[] = [];
  private version: FileVersion<Value> | undefined;
  private since = new Date();
  private from: OperatorFileView['from'] = 'file';
  private rejected: Rejected | null = null;
  private change: FileChange | undefined;
  private reloads: Promise<void> = Promise.resolve();
  private keeps: Promise<void> = Promise.resolve();
  private keepsAgain: NodeJS.Timeout | undefined;

  private constructor(
    private readonly kind: FileRules<Value>,
    private readonly logger: Logger,
    private readonly lastGood: LastGood,
  ) {}

  /** Reads the file and follows it. Throws FileError if it is broken and there is no last good version. */
  static async open<Value>(
    kind: FileRules<Value>,
    { logger, undo }: Owner,
    lastGood: LastGood,
  ): Promise<OperatorFile<Value>> {
    const file = new OperatorFile(kind, logger, lastGood);
    await file.start();
    const { info, invalid } = kind.metrics;
    undo(info.observe(() => [[1, file.current.hash]]));
    undo(invalid.observe(() => [[file.rejected === null ? 0 : 1]]));
    undo(file.follow());
    undo(() => clearTimeout(file.keepsAgain));
    return file;
  }

  /** The value in force. */
  get value(): Value {
    return this.current.value;
  }

  /** The change that brought the version in force; `undefined` if nothing was in force before. */
  get lastChange(): FileChange | undefined {
    return this.change;
  }

  get view(): OperatorFileView {
    const { hash, content } = this.current;
    const { since, from, rejected, change } = this;
    return {
      hash,
      since: since.toISOString(),
      from,
      rejected,
      changes: [...(change?.changes ?? [])],
      content,
    };
  }

  /** What a file with this text would do if it came into force. */
  async check(text: string): Promise<CatalogCheck> {
    const { hash: against, value: before } = this.current;
    let value: Value;
    try {
      ({ value } = await this.kind.readText(text));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return { outcome: 'broken', reason: error.message, against, changes: [] };
    }
    const reason = this.kind.refusal(before, value) ?? null;
    const changes = fewOf(this.kind.changes(before, value));
    return { outcome: reason === null ? 'accepted' : 'refused', reason, against, changes };
  }

  /** Calls a listener after each replacement. */
  onReplaced(listener: (value: Value, change: FileChange) => void): void {
    this.listeners.push(listener);
  }

  /** Reads the file again, after any reading in progress. */
  reload(): Promise<void> {
    this.reloads = this.reloads.then(() => this.read());
    return this.reloads;
  }

  private get current(): FileVersion<Value> {
    if (!this.version) throw new Error(`${this.kind.name} is not loaded`);
    return this.version;
  }

  private async start(): Promise<void> {
    let unread: unknown;
    const kept = await this.keptVersion().catch((error: unknown) => {
      unread = error;
      return undefined;
    });
    try {
      const version = await this.kind.read();
      if (kept && kept.hash !== version.hash) this.accept(kept.value, version);
      this.version = version;
      await this.keep();
    } catch (error) {
      if (!kept) {
        if (unread !== undefined)
          this.logger.warn(
            { path: this.kind.path, err: unread },
            'the last good version of the file cannot be read',
          );
        throw error;
      }
      this.reject(error);
      this.version = kept;
      this.from = 'last-good';
      this.logger.error(
        { path: this.kind.path, hash: kept.hash, reason: this.rejected?.reason },
        'the file is invalid; the last good version is in force',
      );
    }
  }

  private async read(): Promise<void> {
    const { path } = this.kind;
    try {
      const version = await this.kind.read();
      const before = this.current;
      if (version.hash === before.hash) {
        this.rejected = null;
        this.from = 'file';
        return;
      }
      const change = this.accept(before.value, version);
      this.rejected = null;
      this.version = version;
      this.since = new Date();
      this.from = 'file';
      for (const listener of this.listeners) listener(version.value, change);
      this.logger.info({ path, hash: version.hash, changes: change.changes }, 'file reloaded');
      // The next change does not wait for it.
      this.keeps = this.keeps.then(() => this.keep());
    } catch (error) {
      this.reject(error);
      this.logger.error(
        { path, err: error },
        'the changed file is invalid; the previous version stays in use',
      );
    }
  }

  /** Records what a version changes. Throws Refused if it may not replace the previous one. */
  private accept(before: Value, version: FileVersion<Value>): FileChange {
    const reason = this.kind.refusal(before, version.value);
    if (reason !== undefined) throw new Refused(reason, version.hash);
    const changes = fewOf(this.kind.changes(before, version.value));
    this.change = { name: this.kind.name, hash: version.hash, changes };
    return this.change;
  }

  private reject(error: unknown): void {
    this.rejected = {
      at: new Date().toISOString(),
      hash: error instanceof Refused ? error.hash : null,
      reason: error instanceof Error ? error.message : String(error),
    };
  }

  private async keptVersion(): Promise<FileVersion<Value> | undefined> {
    const kept = await this.lastGood.read(this.kind.name);
    return kept && { ...kept, value: this.kind.valueOf(kept.content) };
  }

  /** A version that can't be kept is in force all the same, and kept later. */
  private async keep(): Promise<void> {
    clearTimeout(this.keepsAgain);
    const { hash, content } = this.current;
    try {
      await this.lastGood.write(this.kind.name, { hash, content });
    } catch (error) {
      this.logger.warn({ path: this.kind.path, err: error }, 'the version in force could not be kept');
      // Never rejects.
      this.keepsAgain = setTimeout(() => void this.keep(), KEEP_AGAIN_MS).unref();
    }
  }

  /** Returns a function that ends it. */
  private follow(): () => void {
    const { path } = this.kind;
    const onChange = (now: Stats, before: Stats): void => {
      // `watchFile` reports the first look at a missing file as a change. A reload never rejects.
      if (now.mtimeMs !== 0 || before.mtimeMs !== 0) void this.reload();
    };
    watchFile(path, { interval: POLL_MS, persistent: false }, onChange);
    return () => unwatchFile(path, onChange);
  }
}

function fewOf(changes: readonly string[]): string[] {
  const more = changes.length - MOST_CHANGES;
  return [...changes.slice(0, MOST_CHANGES), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** A valid version may not come into force. */
class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    message: string,
    readonly hash: string,
  ) {
    super(message);
  }
}

/** Identifies a version by its texts: for one, the beginning of what `sha256sum` prints. */
export function hashOf(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, HASH_DIGITS);
}
