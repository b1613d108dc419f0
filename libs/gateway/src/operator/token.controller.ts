import { Controller } from '@nestjs/common';
import type { LinkList, OperatorTokenView } from '@svc/api/operator';
import { routes } from '@svc/api';
import { Problem } from '@svc/contracts/problems';
import { GatewaySettings, linksIn } from '@svc/paid';
import { OperatorOf, OperatorTokens } from '@svc/identity/auth';
import { Serves } from '@svc/runtime';

/** Shows an operator what the token may do, and where else to look. */
@Controller()
export class TokenController {
  constructor(
    private readonly tokens: OperatorTokens,
    private readonly settings: GatewaySettings,
  ) {}

  @Serves(routes.showOperatorToken)
  show(@OperatorOf() name: string): OperatorTokenView {
    const token = this.tokens.get(name);
    if (!token) throw new Problem('AUTHENTICATION_FAILED');
    const { scopes, expiresMs } = token;
    const expiresAt = Number.isFinite(expiresMs) ? new Date(expiresMs).toISOString() : null;
    return { name, scopes: [...scopes], expiresAt };
  }

  @Serves(routes.listOperatorLinks)
  links(): LinkList {
    return { object: 'list', data: linksIn(this.settings.config.SVC_OPERATOR_LINKS) };
  }
}
