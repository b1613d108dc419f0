type Take = (line: string) => void;

/** The lines of the process's log on their way to whoever else takes them. */
class LogLines {
  private taker: Take | undefined;

  /** Called with each line as it is written. */
  readonly tell: Take = (line) => this.taker?.(line);

  /** From now on gives the lines to `take`. Gives what ends that. */
  takenBy(take: Take): () => void {
    this.taker = take;
    return () => {
      if (this.taker === take) this.taker = undefined;
    };
  }
}

/** A process has one log. */
export const logLines = new LogLines();
