import { AlertsSection } from './alerts.js';
import { EndpointsSection } from './endpoints.js';
import { ACCOUNT_ENDPOINTS } from './webhook-calls.js';

/** Where the account is notified of what happens to it, and of which amounts. */
export const WebhooksPage = () => (
  <>
    <EndpointsSection calls={ACCOUNT_ENDPOINTS} mayChange />
    <AlertsSection />
  </>
);
