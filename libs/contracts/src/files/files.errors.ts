import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `files`. */
export const filesErrors = defineErrors({
  destination_exists: { kind: 'conflict', when: 'the destination of a move exists' },
  invalid_path: { kind: 'invalid', when: 'the path cannot name a file' },
  is_a_directory: { kind: 'invalid', when: 'the path leads to a folder' },
  move_into_itself: { kind: 'invalid', when: 'a folder would be moved into itself' },
  not_a_directory: { kind: 'invalid', when: 'the path does not lead to a folder' },
  not_a_file: { kind: 'invalid', when: 'the path does not lead to a regular file' },
  not_permitted: { kind: 'forbidden', when: 'the file system does not permit the change' },
  not_readable: { kind: 'forbidden', when: "the agent's own user may not read the file" },
  path_exists: { kind: 'conflict', when: 'something of another kind is at the path' },
  path_not_found: { kind: 'not_found', when: 'nothing is at the path' },
  path_outside_volume: { kind: 'invalid', when: "the path leads out of the agent's volume" },
  source_not_found: { kind: 'not_found', when: 'nothing is at the source of a move' },
  too_many_transfers: { kind: 'exhausted', when: 'too many transfers of the agent are running' },
  transfer_lost: {
    kind: 'unavailable',
    when: 'the agent went away during the transfer; nothing was changed',
  },
  volume_full: { kind: 'full', when: "there is no room left on the agent's volume" },
  volume_root: { kind: 'invalid', when: 'the change concerns the root of the volume' },
});
