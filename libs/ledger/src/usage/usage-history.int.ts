import { USAGE_HISTORY_WIRE } from '@svc/contracts/ports';
import { overWire } from '@svc/testing';
import { endUsersConformance } from '../../test/end-users.conformance.js';
import { usageHistoryConformance } from '../../test/usage-history.conformance.js';

for (const conformance of [usageHistoryConformance, endUsersConformance]) {
  conformance('the history in this process', (history) => history);
  conformance('the history over a wire', (history) => overWire(history, USAGE_HISTORY_WIRE));
}
