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

/** What an outage may leave in memory, beside a service that has had such a load. */
const LEFT_BYTES = 64 * 1_024 * 1_024;

/** What a process has more in memory than when this was made. Nothing is told where the system does not tell. */
export class GrownMemory {
  private readonly beforeBytes: number;

  constructor(pid: number) {
    this.beforeBytes = TELLS_MEMORY ? residentBytes(pid) : 0;
  }

  /** That it is too much for an outage that is over, where it is. */
  faults(pid: number): string[] {
    const bytes = TELLS_MEMORY ? residentBytes(pid) - this.beforeBytes : 0;
    return bytes > LEFT_BYTES ? [`${bytes} bytes more are in memory`] : [];
  }
}
