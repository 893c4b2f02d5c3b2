/** Arguments that take every right from a container; others can add some again. */
export const TASK_RIGHTS: readonly string[] = ['--cap-drop=ALL', '--security-opt=no-new-privileges'];
