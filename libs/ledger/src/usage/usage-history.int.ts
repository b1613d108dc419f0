import { USAGE_HISTORY_WIRE } from '@svc/contracts/ports';
import { overWire } from '@svc/testing';
import { usageHistoryConformance } from '../../test/usage-history.conformance.js';

usageHistoryConformance('the history in this process', (history) => history);
usageHistoryConformance('the history over a wire', (history) => overWire(history, USAGE_HISTORY_WIRE));
