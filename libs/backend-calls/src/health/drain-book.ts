import type { Drain } from '@svc/contracts/inference';

interface KnownDrain {
  readonly drain: Drain;
  /** On the clock of `Date.now()`. */
  readonly untilMs: number;
}

const keyOf = (model: string, name: string): string => `${model} ${name}`;

/** The backends that operators have taken out of service, as this process knows them. */
export class DrainBook {
  private drains: ReadonlyMap<string, KnownDrain> = new Map();

  replace(drains: readonly Drain[]): void {
    this.drains = new Map(
      drains.map((drain) => [
        keyOf(drain.model, drain.name),
        { drain, untilMs: drain.until === null ? Infinity : Date.parse(drain.until) },
      ]),
    );
  }

  /** Whether there are none, as usual. */
  get isEmpty(): boolean {
    return this.drains.size === 0;
  }

  /** The drain of a backend, or of the entry that it is an address of; `undefined` if it is in service. */
  of(model: string, name: string): Drain | undefined {
    if (this.isEmpty) return undefined;
    const at = name.indexOf('#');
    return this.current(model, name) ?? (at < 0 ? undefined : this.current(model, name.slice(0, at)));
  }

  private current(model: string, name: string): Drain | undefined {
    const known = this.drains.get(keyOf(model, name));
    return known && Date.now() < known.untilMs ? known.drain : undefined;
  }
}
