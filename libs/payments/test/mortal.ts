/** The process has died: nothing of it goes on. */
export class Died extends Error {
  override readonly name = 'Died';
}

/** The life of one process, which may end at a call to the world around it. */
export class Life {
  private left = Number.POSITIVE_INFINITY;
  private isAfter = false;
  isOver = false;

  /** Ends it at a call that comes: before that is made, or after, when its answer is lost. */
  endAt(call: number, isAfter: boolean): void {
    this.left = call;
    this.isAfter = isAfter;
  }

  /** Lets the process make no further call. */
  end(): void {
    this.isOver = true;
  }

  async call<Value>(made: () => Value): Promise<Awaited<Value>> {
    if (this.isOver) throw new Died();
    this.left -= 1;
    const isLast = this.left <= 0;
    if (isLast) this.isOver = true;
    if (isLast && !this.isAfter) throw new Died();
    const value = await made();
    if (this.isOver) throw new Died();
    return value;
  }
}

/** A part of the world as a process sees it: each call of a method may be the last. */
export function mortal<Part extends object>(part: Part, life: Life): Part {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown =>
        life.call(() => (member as (...all: unknown[]) => unknown).apply(target, given));
    },
  });
}
