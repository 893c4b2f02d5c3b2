/** What precedes the apps host in the host name of viewers. No id of an agent looks like it. */
export const VIEWER_LABEL = 'viewer';
