import { z } from 'zod';

/**
 * The name of a payment rail. Which rails there are is known only to the payments; one that they no longer
 * know is named by its network.
 */
export const RailName = z.string().regex(/^[a-z][A-Za-z0-9:-]{0,63}$/, 'must be the name of a payment rail');
