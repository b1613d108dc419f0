import { startLedger } from '../../test/testing.js';
import { stakingConformance } from '../../test/staking.conformance.js';

stakingConformance({ name: 'stakes with holds in memory', start: startLedger });
