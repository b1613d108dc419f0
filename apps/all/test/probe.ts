interface Reply {
  readonly id: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** A question that V8 does not answer in this time it never will. */
const DEADLINE_MS = 120_000;

/** Watches the turns of the event loop by the processor time of its thread, which other processes don't lengthen. */
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

/** Work that takes a core of 3 GHz about 50 ms: what an event loop may do in one go. */
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

/** Looks into a process that was started with `--inspect`, through V8's own inspector. */
export class ServiceProbe {
  private asked = 0;
  private unit: number | undefined;

  private constructor(private readonly socket: WebSocket) {}

  /** Connects to the address that the process wrote at its start. */
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

  /** Bytes of objects and buffers that something still holds on to. */
  async heldBytes(): Promise<number> {
    // What one collection finalises, the next one frees.
    await this.ask('HeapProfiler.collectGarbage');
    await this.ask('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = await this.ask('Runtime.getHeapUsage');
    return Number(usedSize) + Number(backingStorageSize ?? 0);
  }

  /** Processor time that all threads of the process have used, in ms. */
  async cpuMs(): Promise<number> {
    return this.evaluate('(({ user, system }) => (user + system) / 1000)(process.cpuUsage())');
  }

  /** How much processor time this machine needs for one unit of work, in ms. Measured once, while nothing else is done. */
  async unitMs(): Promise<number> {
    return (this.unit ??= await this.evaluate(UNIT));
  }

  /** How long the event loop was held at most while this was done, in units. */
  async longestHold(act: () => Promise<unknown>): Promise<number> {
    const unitMs = await this.unitMs();
    // What was measured so far, the unit itself too, is no part of it.
    await this.evaluate('testWatch.reset()');
    await act();
    return (await this.evaluate('testWatch.longestMs')) / unitMs;
  }

  close(): void {
    this.socket.close();
  }

  private async evaluate(expression: string): Promise<number> {
    const answer = await this.ask('Runtime.evaluate', { expression, returnByValue: true });
    if (answer['exceptionDetails'] !== undefined) throw new Error(JSON.stringify(answer));
    return Number((answer['result'] as { value?: unknown }).value);
  }

  private ask(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = (this.asked += 1);
    const answered = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      const over = new AbortController();
      const fail = (why: string): void => {
        over.abort();
        clearTimeout(timer);
        reject(new Error(`${method}: ${why}`));
      };
      const timer = setTimeout(() => fail('no answer in time'), DEADLINE_MS);
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
