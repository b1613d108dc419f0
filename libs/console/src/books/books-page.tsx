import { Tabs } from '../ui/tabs.js';
import { LedgerAudit } from './ledger-audit.js';
import { Payments } from './payments.js';
import { Spenders } from './spenders.js';

/** The books and the payments, and whether they are right. */
export const BooksPage = () => (
  <Tabs
    label="Books"
    tabs={[
      { title: 'Audit', content: () => <LedgerAudit /> },
      { title: 'Payments', content: () => <Payments /> },
      { title: 'Who spends most', content: () => <Spenders /> },
    ]}
  />
);
