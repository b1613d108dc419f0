import { Body, Controller } from '@nestjs/common';
import { routes } from '@svc/api';
import { Alerts } from '@svc/api/webhooks';
import { numberToNano, usdNumber } from '@svc/contracts/money';
import { type Alert, Books, type Caller } from '@svc/contracts/ports';
import { CallerOf } from '@svc/identity/auth';
import { namedEndUser } from '@svc/identity/end-users';
import { Serves } from '@svc/runtime';

/** The amounts of which an account is notified. */
@Controller()
export class AlertsController {
  constructor(private readonly books: Books) {}

  @Serves(routes.getAlerts)
  async get(@CallerOf() { accountId }: Caller): Promise<Alerts> {
    return { alerts: (await this.books.alerts(accountId)).map(viewOf) };
  }

  @Serves(routes.setAlerts)
  async set(@CallerOf() caller: Caller, @Body() { alerts }: Alerts): Promise<Alerts> {
    const wanted = alerts.map((alert) => alertOf(caller, alert));
    await this.books.setAlerts(caller.accountId, wanted);
    return { alerts: wanted.map(viewOf) };
  }
}

/** The schema has validated the amount. */
function alertOf(caller: Caller, { amount, ...alert }: Alerts['alerts'][number]): Alert {
  const amountNano = numberToNano(amount) ?? 0n;
  return alert.type === 'end_user.spend_threshold'
    ? { ...alert, endUser: namedEndUser(caller, alert.endUser), amountNano }
    : { ...alert, amountNano };
}

const viewOf = ({ amountNano, ...alert }: Alert): Alerts['alerts'][number] => ({
  ...alert,
  amount: usdNumber(amountNano),
});
