import { readFileSync } from 'node:fs';
import { platform as system } from 'node:os';
import type { RunningProcess } from '@svc/testing';
import { ServiceProbe } from './probe.js';

/** Resident memory of other processes is available only on Linux. */
export const TELLS_MEMORY = system() === 'linux';

/** The resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

/** Watches the resident memory of a process. */
export class ResidentWatch {
  /** The maximum. */
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

/** The memory that an outage may leave, compared with a service after the same load. */
const LEFT_BYTES = 16 * 1_024 * 1_024;

/** The Node options of a process whose held memory is measured. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/**
 * The memory that a process holds beyond what it held when this object was made. Garbage does not count: how
 * much there is depends on when V8 collects it, and so on how busy the machine is.
 */
export class GrownMemory {
  private constructor(
    private readonly probe: ServiceProbe,
    private readonly beforeBytes: number,
  ) {}

  /** Of a process that was started with `INSPECTED`. */
  static async since({ output }: RunningProcess): Promise<GrownMemory> {
    const probe = await ServiceProbe.connect(output);
    return new GrownMemory(probe, await probe.heldBytes());
  }

  async bytes(): Promise<number> {
    return (await this.probe.heldBytes()) - this.beforeBytes;
  }

  /** A fault if too much memory is left after an outage. */
  async faults(): Promise<string[]> {
    const bytes = await this.bytes();
    return bytes > LEFT_BYTES ? [`${bytes} bytes more are held`] : [];
  }

  close(): void {
    this.probe.close();
  }
}
