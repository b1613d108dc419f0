import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import type { StoredSession } from '@svc/identity/console';
import type { Incoming } from '@svc/runtime';

/** Parameter decorator: the session of a request of the console. Refuses: AUTHENTICATION_FAILED. */
export const SessionOf = createParamDecorator((_: undefined, context: ExecutionContext): StoredSession => {
  const { session } = context.switchToHttp().getRequest<Incoming>();
  if (!session) throw new Problem('AUTHENTICATION_FAILED');
  return session;
});
