/** A task that waits on behalf of an account. */
export interface QueuedTask {
  readonly account: string;
}

/**
 * A bounded queue in which accounts take turns, so that none waits behind a hundred tasks of another. The
 * next task is the oldest of the account with the fewest running; among equals, of the account served least
 * recently.
 */
export class FairQueue<Task extends QueuedTask> {
  private readonly waiting = new Map<string, Task[]>();
  private readonly running = new Map<string, number>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /**
   * Adds a task. If the queue is full, returns the one that has to leave: the newest of the account with the
   * most waiting, which may be the added one.
   */
  push(task: Task, limit: number): Task | undefined {
    this.listOf(task.account).push(task);
    this.count += 1;
    if (this.count <= limit) return undefined;
    const newest = this.longest(task.account).at(-1);
    if (newest) this.remove(newest);
    return newest;
  }

  /** Takes the next task, which counts as running until `done`. */
  shift(): Task | undefined {
    let chosen: string | undefined;
    for (const account of this.waiting.keys())
      if (chosen === undefined || this.underWay(account) < this.underWay(chosen)) chosen = account;
    if (chosen === undefined) return undefined;
    const list = this.listOf(chosen);
    const task = list.shift();
    this.count -= 1;
    // The account goes to the end of the line.
    this.waiting.delete(chosen);
    if (list.length > 0) this.waiting.set(chosen, list);
    this.running.set(chosen, this.underWay(chosen) + 1);
    return task;
  }

  done({ account }: Task): void {
    const left = this.underWay(account) - 1;
    if (left > 0) this.running.set(account, left);
    else this.running.delete(account);
  }

  /** False if the task is not waiting. */
  remove(task: Task): boolean {
    const list = this.waiting.get(task.account);
    const position = list?.indexOf(task) ?? -1;
    if (!list || position === -1) return false;
    list.splice(position, 1);
    this.count -= 1;
    if (list.length === 0) this.waiting.delete(task.account);
    return true;
  }

  /** Empties the queue. */
  drain(): Task[] {
    const tasks = [...this.waiting.values()].flat();
    this.waiting.clear();
    this.count = 0;
    return tasks;
  }

  private underWay(account: string): number {
    return this.running.get(account) ?? 0;
  }

  private listOf(account: string): Task[] {
    let list = this.waiting.get(account);
    if (!list) this.waiting.set(account, (list = []));
    return list;
  }

  /** The longest list; among equals, that of `account`. */
  private longest(account: string): Task[] {
    let longest = this.listOf(account);
    for (const list of this.waiting.values()) if (list.length > longest.length) longest = list;
    return longest;
  }
}
