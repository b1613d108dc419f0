interface Reply {
  readonly id: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** If V8 does not respond within this time, it never will. */
const DEADLINE_MS = 120_000;

/**
 * Measures the turns of the event loop by the CPU time of its thread, which other processes don't
 * lengthen.
 */
const WATCH = `(() => {
  const cpuMs = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
  const watch = { lastMs: cpuMs(), longestMs: 0, reset: () => { watch.lastMs = cpuMs(); watch.longestMs = 0; } };
  setInterval(() => {
    const nowMs = cpuMs();
    watch.longestMs = Math.max(watch.longestMs, nowMs - watch.lastMs);
    watch.lastMs = nowMs;
  }, 1).unref();
  globalThis.testWatch = watch;
})()`;

/** About 50 ms of work on a 3 GHz core: the maximum for one turn of the event loop. */
const UNIT = `(() => {
  const text = JSON.stringify(Array.from({ length: 75_000 }, (_, at) => ({ name: 'n' + at, value: at * 1.5, list: [at, null] })));
  const times = [];
  while (times.length < 7) {
    const from = process.threadCpuUsage();
    JSON.stringify(JSON.parse(text));
    const { user, system } = process.threadCpuUsage(from);
    times.push((user + system) / 1000);
  }
  return times.sort((a, b) => a - b)[3];
})()`;

/** Inspects a process that was started with `--inspect`, through V8's inspector. */
export class ServiceProbe {
  private lastId = 0;
  private unit: number | undefined;

  private constructor(private readonly socket: WebSocket) {}

  /** Connects to the address that the process printed at its start. */
  static async connect(output: string): Promise<ServiceProbe> {
    const [, address] = /Debugger listening on (ws:\S+)/.exec(output) ?? [];
    if (address === undefined) throw new Error('the process was not started with --inspect');
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error('no inspector')), { once: true });
    });
    const probe = new ServiceProbe(socket);
    await probe.evaluate(WATCH);
    return probe;
  }

  /** Bytes of reachable objects and buffers. */
  async heldBytes(): Promise<number> {
    // Objects that one collection finalises are freed by the next.
    await this.ask('HeapProfiler.collectGarbage');
    await this.ask('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = await this.ask('Runtime.getHeapUsage');
    return Number(usedSize) + Number(backingStorageSize ?? 0);
  }

  /** CPU time of all threads of the process, in ms. */
  async cpuMs(): Promise<number> {
    return this.evaluate('(({ user, system }) => (user + system) / 1000)(process.cpuUsage())');
  }

  /** The CPU time of one unit of work on this machine, in ms. Measured once, while nothing else runs. */
  async unitMs(): Promise<number> {
    return (this.unit ??= await this.evaluate(UNIT));
  }

  /** The longest turn of the event loop during this work, in units. */
  async longestHold(act: () => Promise<unknown>): Promise<number> {
    const unitMs = await this.unitMs();
    // Discards earlier measurements, including the unit itself.
    await this.evaluate('testWatch.reset()');
    await act();
    return (await this.evaluate('testWatch.longestMs')) / unitMs;
  }

  close(): void {
    this.socket.close();
  }

  private async evaluate(expression: string): Promise<number> {
    const response = await this.ask('Runtime.evaluate', { expression, returnByValue: true });
    if (response['exceptionDetails'] !== undefined) throw new Error(JSON.stringify(response));
    return Number((response['result'] as { value?: unknown }).value);
  }

  private ask(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = (this.lastId += 1);
    const answered = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      const over = new AbortController();
      const fail = (why: string): void => {
        over.abort();
        clearTimeout(timer);
        reject(new Error(`${method}: ${why}`));
      };
      const timer = setTimeout(() => fail('no response in time'), DEADLINE_MS);
      const onMessage = ({ data }: { data: unknown }): void => {
        const reply = JSON.parse(String(data)) as Reply;
        if (reply.id !== id) return;
        if (reply.error) return fail(reply.error.message);
        over.abort();
        clearTimeout(timer);
        resolve(reply.result ?? {});
      };
      this.socket.addEventListener('message', onMessage, { signal: over.signal });
      this.socket.addEventListener('close', () => fail('the process has ended'), { signal: over.signal });
    });
    this.socket.send(JSON.stringify({ id, method, params }));
    return answered;
  }
}
