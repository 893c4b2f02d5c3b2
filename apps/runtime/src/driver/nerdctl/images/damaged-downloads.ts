import { callContainerd, ContainerdRefusal, type ContainerdScope } from '../containerd-call.js';

const DAMAGED = /failed commit on ref \\?"([^"\\]+)\\?": [^\n]*unexpected commit (?:digest|size)/g;

/** The downloads whose content is not what its digest says, in a message of nerdctl. */
export const damagedDownloads = (message: string): readonly string[] => [
  ...new Set([...message.matchAll(DAMAGED)].flatMap(([, download]) => download ?? [])),
];

/** Discards what has been downloaded. Errors: `host_unavailable`. */
export const abortDownloads = async (scope: ContainerdScope, downloads: readonly string[]): Promise<void> => {
  for (const download of downloads) {
    try {
      await callContainerd(scope, 'content.v1.Content/Abort', { 1: download });
    } catch (error) {
      // containerd discards it, too, some time after the pull.
      if (!(error instanceof ContainerdRefusal && error.isNotFound)) throw error;
    }
  }
};
