import { Counter } from '../metrics/metrics.js';

/** Events that are delivered to the webhook endpoints of customers and of the operator. */
export const notices = {
  attempts: new Counter(
    {
      name: 'svc.notices.attempts',
      unit: '{attempt}',
      help: 'Attempts to deliver an event, by channel: to the `server` of an endpoint, or by `mail`. They are `delivered`, `refused` by the receiver, or `unsent`: the mail server did not take the mail.',
      labels: ['svc.notices.channel', 'svc.notices.outcome'],
    },
    [
      ['server', 'delivered'],
      ['server', 'refused'],
      ['mail', 'delivered'],
      ['mail', 'refused'],
      ['mail', 'unsent'],
    ],
  ),
};
