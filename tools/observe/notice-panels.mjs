// Panels about webhooks and mails, in the format of `service-boards.mjs`. They are part of the events board.
import { m, rate } from './names.mjs';

const CHANNEL = 'svc_notices_channel';
const OUTCOME = 'svc_notices_outcome';

export const noticePanels = [
  { row: 'Are customers notified?' },
  {
    title: 'Deliveries to webhook endpoints, a second',
    unit: 'reqps',
    bad: '`refused` without `delivered`: servers of customers cannot be reached from here.',
    todo: 'Check the network policy for outgoing connections, and the deliveries of an endpoint.',
    queries: [[rate(m.notices.attempts, OUTCOME, `${CHANNEL}="server"`), `{{${OUTCOME}}}`, '0']],
  },
  {
    title: 'Events by mail, a second',
    unit: 'reqps',
    bad: 'Any `unsent`: the mail server of `GATEWAY_SMTP_HOST` does not take mails. They are tried again for three days.',
    todo: 'Search the log of the gateways for `a mail could not be sent`.',
    queries: [[rate(m.notices.attempts, OUTCOME, `${CHANNEL}="mail"`), `{{${OUTCOME}}}`, '0']],
  },
];
