/** What the sealed paths of a requested change are about, for `fromPersonal`. */
export const aboutRequestedPaths = (changeId: string): string => `file-change/${changeId}/requested`;
