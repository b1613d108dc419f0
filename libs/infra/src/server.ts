/** Environment variables, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A server that the platform stands on: one of this machine, or one that is given by its address. */
export interface Server {
  /** The variable in which the platform's processes are told where it is. */
  readonly variable: 'KAFKA_BROKERS' | 'REDIS_URL' | 'DATABASE_URL';
  /** What belongs into the variable; nothing while it does not run. */
  address(): Promise<string | undefined>;
  /**
   * Starts it, or goes on with the one that runs already, and gives its address once it answers: the same as before
   * wherever the port is still free.
   */
  start(): Promise<string>;
  /** Further variables: the user that the platform's processes are at it, where the address does not say so. */
  credentials(): Promise<Readonly<Record<string, string>>>;
  /** The numbers of its processes; none where it does not run or belongs to somebody else. */
  pids(): Promise<readonly number[]>;
  /** Stops it politely, and otherwise after some seconds. What it keeps on disk is there at the next start. */
  stop(): Promise<void>;
  /** Ends it as `kill -9` does, with all its processes. */
  kill(): Promise<void>;
  /** It stands still, with connections open, until it is resumed. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops it and removes all that it keeps. */
  wipe(): Promise<void>;
}

/** A server that somebody else runs. It is left alone. */
export class GivenServer implements Server {
  constructor(
    readonly variable: Server['variable'],
    private readonly given: string,
  ) {}

  address(): Promise<string> {
    return Promise.resolve(this.given);
  }

  start(): Promise<string> {
    return Promise.resolve(this.given);
  }

  credentials(): Promise<Readonly<Record<string, string>>> {
    return Promise.resolve({});
  }

  pids(): Promise<readonly number[]> {
    return Promise.resolve([]);
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  wipe(): Promise<void> {
    return Promise.resolve();
  }

  kill(): Promise<void> {
    return this.#refuse();
  }

  pause(): Promise<void> {
    return this.#refuse();
  }

  resume(): Promise<void> {
    return this.#refuse();
  }

  #refuse(): Promise<never> {
    return Promise.reject(
      new Error(`The server of ${this.variable} is given; it does not belong to this machine`),
    );
  }
}
