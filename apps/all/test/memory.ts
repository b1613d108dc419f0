import { readFileSync } from 'node:fs';
import { platform as system } from 'node:os';

/** Only Linux tells what of a process is in memory. */
export const TELLS_MEMORY = system() === 'linux';

/** What of a process is in memory, in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

/** Watches how much of a process is in memory. */
export class ResidentWatch {
  /** The most that was seen. */
  peakBytes = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.timer = setInterval(() => this.look(), 25);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    this.peakBytes = Math.max(this.peakBytes, residentBytes(this.pid));
  }
}

interface Reply {
  readonly id: number;
  readonly result: { readonly usedSize: number; readonly backingStorageSize?: number };
}

/** Looks into the heap of a process that was started with `--inspect`, through V8's own inspector. */
export class HeapProbe {
  private asked = 0;

  private constructor(private readonly socket: WebSocket) {}

  /** Connects to the address that the process wrote at its start. */
  static async connect(output: string): Promise<HeapProbe> {
    const [, address] = /Debugger listening on (ws:\S+)/.exec(output) ?? [];
    if (address === undefined) throw new Error('the process was not started with --inspect');
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error('no inspector')), { once: true });
    });
    return new HeapProbe(socket);
  }

  /** Bytes of objects and buffers that something still holds on to. */
  async heldBytes(): Promise<number> {
    // What one collection finalises, the next one frees.
    await this.ask('HeapProfiler.collectGarbage');
    await this.ask('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize = 0 } = await this.ask('Runtime.getHeapUsage');
    return usedSize + backingStorageSize;
  }

  close(): void {
    this.socket.close();
  }

  private ask(method: string): Promise<Reply['result']> {
    const id = (this.asked += 1);
    const answered = new Promise<Reply['result']>((resolve) => {
      const onMessage = ({ data }: { data: unknown }): void => {
        const reply = JSON.parse(String(data)) as Reply;
        if (reply.id !== id) return;
        this.socket.removeEventListener('message', onMessage);
        resolve(reply.result);
      };
      this.socket.addEventListener('message', onMessage);
    });
    this.socket.send(JSON.stringify({ id, method }));
    return answered;
  }
}
