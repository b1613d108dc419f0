import type { OperatorScope } from '@svc/api/route';
import type { ComponentChildren } from 'preact';
import { may } from './operator.js';

interface ScopedProps {
  readonly scope: OperatorScope;
  /** What cannot be done without the scope, if that is to be said. */
  readonly what?: string;
  readonly children: ComponentChildren;
}

/** What a token with this scope may do; for others the reason why it is not offered. */
export function Scoped({ scope, what, children }: ScopedProps) {
  if (may(scope)) return <>{children}</>;
  if (what === undefined) return null;
  return (
    <span class="hint">
      {what} needs a token with the scope “{scope}”.
    </span>
  );
}
