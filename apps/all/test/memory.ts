import { readFileSync } from 'node:fs';
import { platform as system } from 'node:os';

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
const LEFT_BYTES = 64 * 1_024 * 1_024;

/**
 * The memory that a process has gained since this object was made. No fault if the system does not report it.
 */
export class GrownMemory {
  private readonly beforeBytes: number;

  constructor(pid: number) {
    this.beforeBytes = TELLS_MEMORY ? residentBytes(pid) : 0;
  }

  /** A fault if too much memory is left after an outage. */
  faults(pid: number): string[] {
    const bytes = TELLS_MEMORY ? residentBytes(pid) - this.beforeBytes : 0;
    return bytes > LEFT_BYTES ? [`${bytes} bytes more are in memory`] : [];
  }
}
