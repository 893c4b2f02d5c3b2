import { staticProgram, type MachineCode } from './elf-program.plan.js';

const CODE: MachineCode = {
  x64: [
    '488b1c24 488d6c2410 4c8d64dc10', //               argc, argv from 1 on, envp
    '6800400100 31ff 4889e6 31d2 6a08 415a', //        the signals TERM and CHLD
    'b80e000000 0f05', //                              rt_sigprocmask(SIG_BLOCK, them)
    'b839000000 0f05 85c0', //                         fork; fail if it cannot
    '0f888e000000 7466 4189c5', //                     child in the new process
    '4889e7 31f6 31d2 6a08 415a b880000000 0f05', //   next: rt_sigtimedwait(them, no information, no time-out)
    '83f80f 7511', //                                  reap unless it is TERM
    '4489ef be0f000000 b83e000000 0f05 ebd8', //       kill(child, TERM); next
    'bfffffffff 488d7424e0 ba01000000 4531d2', //      reap: wait4(any, status, WNOHANG, no usage)
    'b83d000000 0f05 85c0 7ebb', //                    next if none has exited
    '4439e8 75de', //                                  reap unless it is the child
    '8b7c24e0 40f6c77f 7405 bf00010000', //            its exit code; 1 if a signal has ended it
    'c1ef08 b8e7000000 0f05', //                       exit_group(it)
    'bf01000000 4889e6 31d2 6a08 415a', //             child: rt_sigprocmask(SIG_UNBLOCK, them)
    'b80e000000 0f05',
    '488b7d00 4889ee 4c89e2 b83b000000 0f05', //       execve(argument 1, arguments from it on, envp)
  ],
  arm64: [
    'e90340f9 f3430091 740e098b', //                   argc, argv from 1 on, envp
    '09008852 2900a072 e90f1ff8', //                   the signals TERM and CHLD
    '000080d2 e1030091 020080d2 030180d2', //          rt_sigprocmask(SIG_BLOCK, them)
    'e81080d2 010000d4',
    '200280d2 010080d2 020080d2 030080d2 040080d2', // clone(SIGCHLD); fail if it cannot
    '881b80d2 010000d4 8005f8b7',
    '000400b4 f503002a', //                            child in the new process
    'e0030091 010080d2 020080d2 030180d2', //          next: rt_sigtimedwait(them, no information, no time-out)
    '281180d2 010000d4',
    '1f3c0071 c1000054', //                            reap unless it is TERM
    'e003152a e10180d2 281080d2 010000d4 f4ffff17', // kill(child, TERM); next
    '00008092 e1230091 220080d2 030080d2', //          reap: wait4(any, status, WNOHANG, no usage)
    '882080d2 010000d4 1f000071 8dfdff54', //          next if none has exited
    '1f00156b e1feff54', //                            reap unless it is the child
    'e00b40b9 1f180072 40000054 00208052', //          its exit code; 1 if a signal has ended it
    '007c0853 c80b80d2 010000d4', //                   exit_group(it)
    '200080d2 e1030091 020080d2 030180d2', //          child: rt_sigprocmask(SIG_UNBLOCK, them)
    'e81080d2 010000d4',
    '600240f9 e10313aa e20314aa a81b80d2 010000d4', // execve(argument 1, arguments from it on, envp)
  ],
};

/**
 * Process 1 of a container: starts the command that follows, passes TERM on to it, and exits with it. Until then it waits for
 * every process whose parent has exited. Node waits only for its own children, so the others would occupy the agent's limit
 * of processes for good. `processor`: as `process.arch`. Throws for an unknown one.
 */
export const initProgram = (processor: string): Buffer => staticProgram('init', CODE, processor);
