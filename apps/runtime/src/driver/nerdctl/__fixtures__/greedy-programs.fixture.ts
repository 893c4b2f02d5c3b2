import type { MachineCode } from '../elf-program.plan.js';

/** Creates inotify instances until the kernel refuses, and keeps them. */
export const WATCH_WITHOUT_END: MachineCode = {
  x64: [
    '31ff b826010000 0f05 85c0 79f3', //                               inotify_init1(0) until it fails
    '31ff 31f6 31d2 4531d2 b80f010000 0f05', //                        ppoll(none, without end)
  ],
  arm64: ['000080d2 480380d2 010000d4 a0ffff36', '000080d2 010080d2 020080d2 030080d2 280980d2 010000d4'],
};

/** Queues signals to itself until the kernel refuses, then message queues named `q`, and keeps them. */
export const QUEUE_WITHOUT_END: MachineCode = {
  x64: [
    '4881ec00010000 48c70424ffffffff', //                              every signal
    '31ff 4889e6 31d2 6a08 415a b80e000000 0f05', //                   rt_sigprocmask(SIG_BLOCK, them)
    'b827000000 0f05 89c5', //                                         getpid
    'c7442408ffffffff c7042422000000', //                              number 34, SI_QUEUE
    '89ef 6a22 5e 4889e2 b881000000 0f05 85c0 79ed', //                rt_sigqueueinfo until it fails
    '488d3d38000000 be42000000 ba80010000 4531d2 b8f0000000 0f05', // mq_open("q", O_CREAT | O_RDWR, 0600)
    '89c3 488d3d1b000000 b8f1000000 0f05 85db 79d1', //                mq_unlink("q"); again unless it failed
    '31ff 31f6 31d2 4531d2 b80f010000 0f05', //                        ppoll(none, without end)
    '7100',
  ],
  arm64: [
    'ff0304d1 09008092 e90300f9',
    '000080d2 e1030091 020080d2 030180d2 e81080d2 010000d4',
    '881580d2 010000d4 f30300aa',
    '09008012 e90b00b9 49048052 e90300b9',
    'e00313aa 410480d2 e2030091 481180d2 010000d4 60ffff36',
    '20020010 410880d2 023080d2 030080d2 881680d2 010000d4',
    'f40300aa 40010010 a81680d2 010000d4 d4feff36',
    '000080d2 010080d2 020080d2 030080d2 280980d2 010000d4',
    '7100 0000',
  ],
};
