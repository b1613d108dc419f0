type Take = (line: string) => void;

/** Passes the lines of the process's log to a further receiver. */
class LogLines {
  private taker: Take | undefined;

  /** Called with each line as it is written. */
  readonly take: Take = (line) => this.taker?.(line);

  /** Passes all further lines to `take`. Returns a function that ends that. */
  takenBy(take: Take): () => void {
    this.taker = take;
    return () => {
      if (this.taker === take) this.taker = undefined;
    };
  }
}

/** A process has one log. */
export const logLines = new LogLines();
