# make: main.elf; make run: it runs under QEMU, which has a board with this core, and prints what a call takes.
CC = arm-none-eabi-gcc
CPU = -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard
CFLAGS = -std=c99 -O2 $(CPU) -ffunction-sections -fdata-sections -fno-math-errno -fstack-usage \
    -Wall -Wextra -Wconversion -Wdouble-promotion -Wfloat-conversion -pedantic
OBJECTS = @NAME@.o main.o startup.o semihosting.o

main.elf: $(OBJECTS) board.ld
	$(CC) $(CPU) -nostartfiles -T board.ld -Wl,--gc-sections -o $@ $(OBJECTS) -lm
	arm-none-eabi-size $@ @NAME@.o

%.o: %.c
	$(CC) $(CFLAGS) -c -o $@ $<

main.o @NAME@.o: @NAME@.h
main.o semihosting.o: semihosting.h

# The icount clock counts instructions: 2^10 ns for each.
run: main.elf
	qemu-system-arm -M mps2-an386 -display none -monitor none -serial null -icount shift=10 \
	    -chardev stdio,id=host -semihosting-config enable=on,chardev=host -kernel main.elf

clean:
	rm -f main.elf *.o *.su

.PHONY: run clean
