/** The process has died: none of its calls continue. */
export class ProcessCrashed extends Error {
  override readonly name = 'ProcessCrashed';
}

/** The life of one process, which may end at any call to a dependency. */
export class Life {
  private left = Number.POSITIVE_INFINITY;
  private isAfter = false;
  isOver = false;

  /** Ends it at a future call: before the call is made, or after, when its result is lost. */
  endAt(call: number, isAfter: boolean): void {
    this.left = call;
    this.isAfter = isAfter;
  }

  /** Rejects any further call of the process. */
  end(): void {
    this.isOver = true;
  }

  async call<Value>(made: () => Value): Promise<Awaited<Value>> {
    if (this.isOver) throw new ProcessCrashed();
    this.left -= 1;
    const isLast = this.left <= 0;
    if (isLast) this.isOver = true;
    if (isLast && !this.isAfter) throw new ProcessCrashed();
    const value = await made();
    if (this.isOver) throw new ProcessCrashed();
    return value;
  }
}

/** Wraps a dependency so that each method call may be the process's last. */
export function crashing<Part extends object>(part: Part, life: Life): Part {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown =>
        life.call(() => (member as (...all: unknown[]) => unknown).apply(target, given));
    },
  });
}
