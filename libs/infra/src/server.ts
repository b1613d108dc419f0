/** The environment variables of a process. */
export type ServerEnvironment = Readonly<Record<string, string | undefined>>;

/** A server that the platform depends on: a local one, or an external one given by its address. */
export interface Server {
  /** The variable from which the platform's processes read its address. */
  readonly variable: 'KAFKA_BROKERS' | 'REDIS_URL' | 'DATABASE_URL';
  /** The value of that variable; `undefined` while it does not run. */
  address(): Promise<string | undefined>;
  /**
   * Starts it, or keeps the one that runs already, and returns its address once it responds: the previous
   * address if the port is still free.
   */
  start(): Promise<string>;
  /** Further variables: the platform's login, if it is not part of the address. */
  credentials(): Promise<Readonly<Record<string, string>>>;
  /** The ids of its processes; empty if it does not run or is external. */
  pids(): Promise<readonly number[]>;
  /** Stops it gracefully, or forcibly after some seconds. Its data on disk survives. */
  stop(): Promise<void>;
  /** Kills all its processes, as with `kill -9`. */
  kill(): Promise<void>;
  /** Suspends it, with open connections, until it is resumed. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops it and removes all its data. */
  wipe(): Promise<void>;
}

/** An external server. It is left alone. */
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
    return this.refuse();
  }

  pause(): Promise<void> {
    return this.refuse();
  }

  resume(): Promise<void> {
    return this.refuse();
  }

  private refuse(): Promise<never> {
    return Promise.reject(
      new Error(`The server of ${this.variable} is given; it does not belong to this machine`),
    );
  }
}
