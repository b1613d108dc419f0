import type { Provider } from '@nestjs/common';

interface Closable {
  close(): Promise<void>;
}

/** A provider that closes a module's value once the process no longer responds to requests. */
export function closedAtEnd(kept: abstract new (...args: never[]) => Closable): Provider {
  return {
    provide: Symbol(`the end of ${kept.name}`),
    useFactory: (one: Closable) => ({ onApplicationShutdown: () => one.close() }),
    inject: [kept],
  };
}
