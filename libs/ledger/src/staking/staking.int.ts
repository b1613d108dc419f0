import { startLedger } from '../testing.js';
import { stakingConformance } from './staking.conformance.js';

stakingConformance({ name: 'stakes with holds in memory', start: startLedger });
