
# Ten seconds as they pass, 2^6 ns an instruction. ICOUNT=shift=6,sleep=off leaves out the time in which the core
# sleeps; the board's timers then agree no more.
ICOUNT = shift=6
run: main.elf
	$(QEMU) -icount $(ICOUNT) -kernel main.elf
