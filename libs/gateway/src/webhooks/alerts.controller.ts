import { Body, Controller } from '@nestjs/common';
import { routes } from '@svc/api';
import { Alerts } from '@svc/api/webhooks';
import { numberToNano, usdNumber } from '@svc/contracts/money';
import { type Alert, Books, type Caller } from '@svc/contracts/ports';
import { CallerOf } from '@svc/identity/auth';
import { Serves } from '@svc/runtime';

/** The amounts of which an account is notified. */
@Controller()
export class AlertsController {
  constructor(private readonly books: Books) {}

  @Serves(routes.getAlerts)
  async get(@CallerOf() { accountId }: Caller): Promise<Alerts> {
    const alerts = await this.books.alerts(accountId);
    return {
      alerts: alerts.map(({ amountNano, ...alert }) => ({ ...alert, amount: usdNumber(amountNano) })),
    };
  }

  @Serves(routes.setAlerts)
  async set(@CallerOf() { accountId }: Caller, @Body() { alerts }: Alerts): Promise<Alerts> {
    await this.books.setAlerts(accountId, alerts.map(alertOf));
    return { alerts };
  }
}

/** The schema has validated the amount. */
const alertOf = ({ amount, ...alert }: Alerts['alerts'][number]): Alert => ({
  ...alert,
  amountNano: numberToNano(amount) ?? 0n,
});
