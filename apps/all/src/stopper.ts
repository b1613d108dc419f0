/** Undoes what was started, last things first, once. */
export class Stopper {
  private readonly undo: (() => Promise<void>)[] = [];
  private stopping: Promise<number> | undefined;
  private code = 0;

  /** Remembers how to undo something. */
  add(undo: () => Promise<void>): void {
    this.undo.push(undo);
  }

  /** The process is to end with a failure. */
  failed(): void {
    this.code = 1;
  }

  /** Undoes everything and gives the exit code. A part that fails does not keep the others from stopping. */
  stop(): Promise<number> {
    this.stopping ??= this.undoAll();
    return this.stopping;
  }

  private async undoAll(): Promise<number> {
    for (const undo of this.undo.toReversed()) {
      try {
        await undo();
      } catch (error) {
        this.code = 1;
        process.stderr.write(`while stopping: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
    return this.code;
  }
}
