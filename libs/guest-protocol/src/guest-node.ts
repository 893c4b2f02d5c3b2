/**
 * Options of the Node that runs a guest. They bound its heap well below the memory of its control group, so that garbage does
 * not fill that before it is collected.
 */
export const GUEST_NODE_OPTIONS = ['--max-old-space-size=144', '--max-semi-space-size=4'] as const;
