# A thread whose first operator comes under a filter of system calls makes none of ours: it lives, and so do its books.
"$PYTHON" -c 'import torch' 2>/dev/null || skip "no PyTorch here"
cat >filtered.py <<'PY'
import ctypes, struct, threading, torch
torch.ones(3) + 1
libc = ctypes.CDLL(None, use_errno=True)
def forbid_mapping_of_a_table():
    # Kills for mmap() of 4 to 64 KiB, as the agent's table of operators is; malloc maps none of that size.
    code = [(0x20, 0, 0, 0), (0x15, 0, 4, 9), (0x20, 0, 0, 24), (0x25, 2, 0, 65536), (0x35, 0, 1, 4097), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7fff0000)]
    program = b"".join(struct.pack("HBBI", *one) for one in code)
    kept = ctypes.create_string_buffer(program)
    fprog = struct.pack("HxxxxxxP", len(code), ctypes.addressof(kept))
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, ctypes.c_char_p(fprog), 0, 0) == 0, ctypes.get_errno()
def work():
    kept = bytearray(1000)
    forbid_mapping_of_a_table()
    torch.ones(3)
    print("lives")
thread = threading.Thread(target=work)
thread.start()
thread.join()
PY
export OMP_NUM_THREADS=1
expect_status 0 "$PYTHON" filtered.py
expect_status 0 "$HEAPPROF_BIN" run -q --torch-ops -o profile.json -- "$PYTHON" filtered.py
expect_in out.txt lives
check_profile profile.json
expect_complete
