import type { Provider } from '@nestjs/common';

interface Closable {
  close(): Promise<void>;
}

/** Closes what a module provides, once the process no longer answers. Stands among the module's providers. */
export function closedAtEnd(kept: abstract new (...args: never[]) => Closable): Provider {
  return {
    provide: Symbol(`the end of ${kept.name}`),
    useFactory: (one: Closable) => ({ onApplicationShutdown: () => one.close() }),
    inject: [kept],
  };
}
