pure function @NAME@(@ARGUMENTS@) result(found)
  real(wp), intent(in) :: @ARGUMENTS@
  real(wp) :: found
  interface
    pure function c_@NAME@(@ARGUMENTS@) bind(c, name="@NAME@") result(found)
      import :: wp
      real(wp), intent(in), value :: @ARGUMENTS@
      real(wp) :: found
    end function c_@NAME@
  end interface
  found = c_@NAME@(@ARGUMENTS@)
end function @NAME@
