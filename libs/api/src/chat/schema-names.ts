/** The metadata by which a union names its members. */
export const MEMBERS = 'x-members';

/**
 * The metadata of a union whose members are named after their discriminators in the published description:
 * the member `text` is `TextBlock` with the suffix `Block`.
 */
export const namedMembers = (suffix: string): Record<typeof MEMBERS, string> => ({ [MEMBERS]: suffix });
